// Random programs for CFIO, compared with a model: what netCDF-C reads from each file.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: property X Y RATIO FIRST LAST (seeds), on enough ranks; ranks that are left over are
// blank. Two files are open at a time. Clients define the same things, or some of them more; they
// put blocks of any form, type and order, or nothing, and end the output of steps at any time.
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>

#include "clients.hpp"
#include "system/random.hpp"

namespace {

constexpr std::size_t most_records = 5;
// Text types are put as attributes only.
const std::vector<int> types{CFIO_BYTE, CFIO_SHORT, CFIO_INT, CFIO_FLOAT, CFIO_DOUBLE};
const std::vector<std::string> names{"v", "w v", "sea \\ ice \\points", "x-y", "_z"};

struct Variable {
    std::string name;
    int type = CFIO_FLOAT;
    std::vector<int> dims;           // indices of dimensions
    std::vector<std::size_t> shape;  // of most_records records, if it has records
    bool record = false;
    int owner = -1;                             // only this client defines it; -1: all do
    std::vector<std::optional<double>> values;  // values that were put
};

struct Attribute {
    int type = CFIO_INT;
    std::vector<double> values;
};

struct Block {
    int client = 0;
    std::size_t variable = 0;
    std::vector<std::size_t> start, count;
    int type = CFIO_FLOAT;  // type of the put
    bool twice = false;     // wrong values are put before
};

struct Model {
    int mode = 0;
    std::vector<std::size_t> dims;  // 0: unlimited
    std::vector<Variable> variables;
    std::map<std::pair<std::size_t, std::string>, Attribute>
        attributes;  // of a variable, or the file
    std::vector<Block> blocks;
    std::size_t records = 0;
    std::string path;
    int id = 0;
    std::vector<int> dim_ids, var_ids;
};

double value_of(std::size_t variable, std::size_t element) {
    return static_cast<double>((31 * variable + 7 * element) % 100);
}

// Calls visit(position in the variable, position in the block).
template <class Visit>
void for_elements(const Variable& v, const Block& b, Visit&& visit) {
    std::size_t n = 1;
    for (const std::size_t c : b.count) n *= c;
    for (std::size_t i = 0; i < n; ++i) {
        std::size_t rest = i, element = 0, factor = 1;
        for (std::size_t d = v.shape.size(); d-- > 0;) {
            element += factor * (b.start[d] + rest % b.count[d]);
            rest /= b.count[d];
            factor *= v.shape[d];
        }
        visit(element, i);
    }
}

// Divides a variable along one of its dimensions into blocks, which clients put, or nobody.
void choose_blocks(Random& random, Model& m, std::size_t number, int clients) {
    Variable& v = m.variables[number];
    Block whole;
    whole.variable = number;
    whole.start.assign(v.shape.size(), 0);
    whole.count = v.shape;
    const auto d =
        static_cast<std::size_t>(random.below(static_cast<std::int64_t>(v.shape.size())));
    const std::size_t length = v.shape.empty() ? 1 : v.shape[d];
    for (std::size_t at = 0; at < length;) {
        Block b = whole;
        const auto n = static_cast<std::size_t>(random.between(1, static_cast<int>(length - at)));
        if (!v.shape.empty()) b.start[d] = at, b.count[d] = n;
        at += n;
        if (random.percent(20)) continue;
        b.client = static_cast<int>(random.below(clients));
        b.type = random.pick(std::vector<int>{CFIO_INT, CFIO_FLOAT, CFIO_DOUBLE});
        b.twice = random.percent(20);
        m.blocks.push_back(b);
        for_elements(v, b, [&](std::size_t e, std::size_t) { v.values[e] = value_of(number, e); });
        if (v.record) m.records = std::max(m.records, b.start[0] + b.count[0]);
        if (random.percent(10)) {  // another client puts the same values
            b.client = (b.client + 1) % clients;
            b.twice = false;
            m.blocks.push_back(b);
        }
    }
}

Model choose(Random& random, const Clients& clients, const char* name) {
    Model m;
    m.path = clients.path(name);
    m.mode = random.pick(std::vector<int>{0, NC_CLOBBER, NC_64BIT_OFFSET, NC_64BIT_DATA});
    for (int d = 0; d < 3; ++d) m.dims.push_back(static_cast<std::size_t>(random.between(1, 9)));
    const bool unlimited = random.percent(60);
    if (unlimited) m.dims[0] = 0;
    const std::int64_t n = random.between(1, 5);
    for (std::int64_t i = 0; i < n; ++i) {
        Variable v;
        v.name = names[static_cast<std::size_t>(i)];
        v.type = random.pick(types);
        std::size_t size = 1;
        for (int d = 0; d < 3; ++d)
            if (random.percent(65)) {
                v.dims.push_back(d);
                v.shape.push_back(d == 0 && unlimited ? most_records
                                                      : m.dims[static_cast<std::size_t>(d)]);
                size *= v.shape.back();
            }
        v.record = unlimited && !v.dims.empty() && v.dims[0] == 0;
        v.owner = random.percent(20) ? static_cast<int>(random.below(clients.count)) : -1;
        v.values.resize(size);
        m.variables.push_back(v);
        choose_blocks(random, m, m.variables.size() - 1, clients.count);
    }
    random.shuffle(m.blocks);
    return m;
}

int put_attribute(const Model& m, int variable, const char* name, const Attribute& a) {
    const auto put = [&](auto zero) {
        const std::vector<decltype(zero)> values(a.values.begin(), a.values.end());
        return cfio_put_att(m.id, variable, name, static_cast<cfio_type>(a.type), values.size(),
                            values.data());
    };
    switch (a.type) {
        case CFIO_BYTE: return put(static_cast<signed char>(0));
        case CFIO_SHORT: return put(static_cast<short>(0));
        case CFIO_INT: return put(0);
        case CFIO_FLOAT: return put(0.0F);
        default: return put(0.0);
    }
}

// Puts attributes that clients give different values, of which those of the lowest one remain.
void put_attributes(Random& random, const Clients& clients, Model& m, std::size_t variable,
                    int id) {
    for (const char* name : {"a", "b", "c"}) {
        const auto lowest = static_cast<int>(random.below(clients.count));
        Attribute a;
        for (int turn = 0; turn < 2; ++turn) {  // of two puts, the last remains
            a.type = random.pick(types);
            a.values = {static_cast<double>(random.below(100)), 100.0 - lowest};
            if (clients.rank < lowest) continue;
            a.values[1] = 100.0 - clients.rank;
            CHECK(put_attribute(m, id, name, a) == 0);
            a.values[1] = 100.0 - lowest;
        }
        m.attributes[{variable, name}] = a;
    }
}

void define(Random& random, const Clients& clients, Model& m) {
    CHECK(cfio_create(m.path.c_str(), m.mode, &m.id) == 0);
    int id = 0;
    for (std::size_t d = 0; d < m.dims.size(); ++d) {
        const std::string name = "d" + std::to_string(d);
        CHECK(cfio_def_dim(m.id, name.c_str(), m.dims[d], &id) == 0);
        CHECK(id == static_cast<int>(d) + 1);
        m.dim_ids.push_back(id);
        // The first definition remains.
        CHECK(cfio_def_dim(m.id, name.c_str(), m.dims[d] + 1, &id) == 0);
        CHECK(id == static_cast<int>(d) + 1);
    }
    int next = 1;
    const std::size_t hint[3] = {1000, 0, 77};
    for (std::size_t i = 0; i < m.variables.size(); ++i) {
        const Variable& v = m.variables[i];
        if (v.owner >= 0 && v.owner != clients.rank) continue;
        std::vector<int> dims;
        for (const int d : v.dims) dims.push_back(m.dim_ids[static_cast<std::size_t>(d)]);
        const auto n = static_cast<int>(dims.size());
        const auto type = static_cast<cfio_type>(v.type);
        CHECK(cfio_inq_varid(m.id, v.name.c_str(), &id) == -401);
        CHECK(cfio_def_var(m.id, v.name.c_str(), type, n, dims.data(), hint, hint, &id) == 0);
        CHECK(id == next);
        CHECK(cfio_def_var(m.id, v.name.c_str(), CFIO_INT, 0, nullptr, hint, hint, &id) == 0);
        CHECK(id == next++);
    }
    put_attributes(random, clients, m, m.variables.size(), NC_GLOBAL);
    CHECK(cfio_enddef(m.id) == 0);
    for (std::size_t i = 0; i < m.variables.size(); ++i) {
        CHECK(cfio_inq_varid(m.id, m.variables[i].name.c_str(), &id) == 0);
        m.var_ids.push_back(id);
        put_attributes(random, clients, m, i, id);
    }
}

template <class T>
int put_as(const Model& m, const Block& b, bool wrong,
           int (*call)(int, int, int, const std::size_t*, const std::size_t*, const T*)) {
    std::vector<T> data;
    for_elements(m.variables[b.variable], b, [&](std::size_t e, std::size_t) {
        data.push_back(static_cast<T>(wrong ? -1 : value_of(b.variable, e)));
    });
    const int code = call(m.id, m.var_ids[b.variable], static_cast<int>(b.start.size()),
                          b.start.data(), b.count.data(), data.data());
    std::fill(data.begin(), data.end(), static_cast<T>(-2));  // the caller may change them now
    return code;
}

void put(const Model& m, const Block& b, bool wrong) {
    const int code = b.type == CFIO_INT     ? put_as<int>(m, b, wrong, cfio_put_vara_int)
                     : b.type == CFIO_FLOAT ? put_as<float>(m, b, wrong, cfio_put_vara_float)
                                            : put_as<double>(m, b, wrong, cfio_put_vara_double);
    CHECK_TEXT(code == 0, "{}", code);
}

void compare(const Model& m) {
    const Contents file(m.path);
    const int format = m.mode == NC_64BIT_OFFSET ? NC_FORMAT_64BIT_OFFSET
                       : m.mode == NC_64BIT_DATA ? NC_FORMAT_64BIT_DATA
                                                 : NC_FORMAT_CLASSIC;
    CHECK(file.format() == format);
    for (std::size_t d = 0; d < m.dims.size(); ++d)
        CHECK(file.length(("d" + std::to_string(d)).c_str()) ==
              static_cast<long>(m.dims[d] == 0 ? m.records : m.dims[d]));
    const std::map<int, double> fills{{CFIO_BYTE, NC_FILL_BYTE},
                                      {CFIO_SHORT, NC_FILL_SHORT},
                                      {CFIO_INT, NC_FILL_INT},
                                      {CFIO_FLOAT, NC_FILL_FLOAT},
                                      {CFIO_DOUBLE, NC_FILL_DOUBLE}};
    for (const Variable& v : m.variables) {
        CHECK(file.type(v.name.c_str()) == v.type);
        std::vector<double> wanted;
        for (const auto& value : v.values) wanted.push_back(value.value_or(fills.at(v.type)));
        if (v.record) wanted.resize(wanted.size() / most_records * m.records);
        CHECK_TEXT(file.values(v.name.c_str()) == wanted, "{}: {}", m.path, v.name);
    }
    for (const auto& [where, a] : m.attributes) {
        const char* owner =
            where.first < m.variables.size() ? m.variables[where.first].name.c_str() : "";
        CHECK(file.att_type(owner, where.second.c_str()) == a.type);
        CHECK(file.numbers(owner, where.second.c_str()) == a.values);
    }
}

void run(const Clients& clients, int seed) {
    check::step("seed {}", seed);
    Random random(static_cast<std::uint64_t>(seed));
    Random own(mix(static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(clients.rank)));
    Model models[2] = {choose(random, clients, "a"), choose(random, clients, "b")};
    for (Model& m : models) define(random, clients, m);
    CHECK(models[0].id != models[1].id);
    for (std::size_t i = 0; i < std::max(models[0].blocks.size(), models[1].blocks.size()); ++i)
        for (const Model& m : models) {
            if (random.percent(10)) MPI_Barrier(clients.comm);
            if (own.percent(20)) CHECK(cfio_io_end() == 0);
            if (own.percent(10)) {  // nothing
                const std::size_t zero[3] = {0, 0, 0};
                if (const auto n = m.variables[0].shape.size(); n > 0)
                    CHECK(cfio_put_vara_float(m.id, m.var_ids[0], static_cast<int>(n), zero, zero,
                                              nullptr) == 0);
            }
            if (i >= m.blocks.size() || m.blocks[i].client != clients.rank) continue;
            if (m.blocks[i].twice) put(m, m.blocks[i], true);
            if (own.percent(20)) CHECK(cfio_io_end() == 0);
            put(m, m.blocks[i], false);
        }
    for (const Model& m : models) CHECK(cfio_close(m.id) == 0);
    CHECK(cfio_io_end() == 0);
    MPI_Barrier(clients.comm);
    for (const Model& m : models)
        if (clients.first()) compare(m);
    MPI_Barrier(clients.comm);
}

// Waits until a file that is being written has a number of records in its header.
bool are_counted(const std::string& path, unsigned char records) {
    for (int i = 0; i < 1000; ++i, usleep(10000)) {
        char header[8] = {};
        std::ifstream(path + ".part").read(header, sizeof header);
        if (header[7] == records) return true;
    }
    return false;
}

// Tests that records which have ended are counted before the next collective call of any file, so
// that they remain if the run is killed; and blocks much larger than any buffer.
void records_and_sizes(const Clients& clients) {
    check::step("records and sizes");
    const std::size_t length = 1000001, count[2] = {1, length};
    const std::size_t first = length * static_cast<std::size_t>(clients.rank);
    const File file(clients, "large", NC_64BIT_OFFSET);
    int dims[2] = {0, 0}, var = 0;
    CHECK(cfio_def_dim(file.id, "time", 0, &dims[0]) == 0);
    CHECK(cfio_def_dim(file.id, "x", length * static_cast<std::size_t>(clients.count), &dims[1]) ==
          0);
    CHECK(cfio_def_var(file.id, "r", CFIO_INT, 2, dims, count, count, &var) == 0);
    CHECK(cfio_enddef(file.id) == 0);
    std::vector<int> data(length);
    for (std::size_t r = 0; r < 2; ++r) {
        const std::size_t start[2] = {r, first};
        for (std::size_t i = 0; i < length; ++i) data[i] = static_cast<int>(r + first + i);
        CHECK(cfio_put_vara_int(file.id, var, 2, start, count, data.data()) == 0);
        CHECK(cfio_io_end() == 0);
    }
    const File other(clients, "meanwhile");
    CHECK(!clients.first() || are_counted(file.path, 2));
    CHECK(cfio_close(other.id) == 0);
    CHECK(cfio_close(file.id) == 0);
    MPI_Barrier(clients.comm);
    if (!clients.first()) return;
    const std::vector<double> found = Contents(file.path).values("r");
    const std::size_t half = length * static_cast<std::size_t>(clients.count);
    CHECK(found.size() == 2 * half);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < found.size(); ++i)
        wrong += found[i] != static_cast<double>(i % half + i / half);
    CHECK_TEXT(wrong == 0, "{} values", wrong);
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    setenv("THALWEG_CLOSE", "wait", 1);  // complete files in their close, because they are checked
                                         // directly after it
    const Grid grid(argc, argv);
    Clients clients = grid.clients();
    const int seeds[2] = {argc > 4 ? std::atoi(argv[4]) : 1, argc > 5 ? std::atoi(argv[5]) : 1};
    const int servers = std::max(1, clients.count / grid.ratio);
    const int role = clients.rank < clients.count             ? CFIO_PROC_CLIENT
                     : clients.rank < clients.count + servers ? CFIO_PROC_SERVER
                                                              : CFIO_PROC_BLANK;
    // The second session must work as the first one does.
    for (int session = 1; session <= 2; ++session) {
        check::step("session {}", session);
        clients.folder = check::make_folder("cfio_property");
        CHECK(cfio_init(grid.x, grid.y, grid.ratio) == 0);
        CHECK(cfio_proc_type() == role);
        CFIO_START()
        for (int seed = seeds[0]; seed <= seeds[1]; ++seed) run(clients, 1000 * session + seed);
        records_and_sizes(clients);
        CFIO_END()
        CHECK(cfio_finalize() == 0);
    }
    MPI_Comm_free(&clients.comm);
    return check::verdict("cfio property");
}
