# SPDX-License-Identifier: Apache-2.0
"""Converts configurations in XML (XIOS, MPAS) to that of a history. Argument: a path. Prints JSON:
the configuration, and the problems as lists of a line and a text."""

import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree
from xml.parsers import expat

problems, quoted = [], json.dumps
# Units and operations of XIOS: those of a history.
UNITS = dict(re.findall(r"(\w+):(\w+)", "y:year mo:month d:day h:hour mi:minute s:second ts:step"))
OPS = "instant:instant average:mean maximum:max minimum:min accumulate:sum once:once"
OPS = dict(re.findall(r"(\w+):(\w+)", OPS))
# Attributes of XIOS that are converted, or that change no value.
FILE = """id name name_suffix description enabled output_freq output_level src type
format compression_level sync_freq min_digits par_access append mode time_units time_counter
gatherer writer using_server2"""
FIELD = """id name field_ref group_ref operation freq_op unit level prec enabled long_name src
standard_name cell_methods default_value detect_missing_value :place"""
# Parts of dates in the file names of MPAS: those of a history.
TOKENS = {"$Y": "YYYY", "$M": "MM", "$D": "DD", "$h": "hh", "$m": "mm", "$s": "ss"}


def read(path, file):
    """Returns the root of a document; elements know their file (empty: the first) and line."""
    builder, parser = ElementTree.TreeBuilder(), expat.ParserCreate()

    def start(tag, attributes):
        element = builder.start(tag, {k: v.strip() for k, v in attributes.items()})
        element.set(":place", (file, parser.CurrentLineNumber))

    parser.StartElementHandler, parser.EndElementHandler = start, builder.end
    parser.CharacterDataHandler = builder.data
    # XIOS and MPAS accept "--" within comments.
    text = re.sub(
        rb"<!--.*?-->", lambda c: b"\n" * c[0].count(b"\n"), path.read_bytes(), flags=re.S
    )
    parser.Parse(text, True)
    return builder.close()


def fail(element, what):
    file, line = element.get(":place")
    problems.append([0, f"{file}:{line}: {what}"] if file else [line, what])


def is_off(attributes):
    return attributes.get("enabled", "").lower().lstrip(".").startswith("f")


def plural(n, unit):
    return f"{n} {unit}" + "s" * (int(n) != 1)


class Xios:
    """The files of a model that calls XIOS."""

    def __init__(self, path, root):
        self.path, self.fields, self.groups, self.streams, self.nest = path, {}, {}, {}, ""
        self.include(root, 0)
        self.define(root, {})
        self.files(root, {})
        self.text = '[history]\nweights = "count"\nanchor = "start"\n' * bool(self.streams)
        for name, lines in self.streams.items():
            self.text += f"\n[[stream]]\nname = {quoted(name)}\n" + "\n".join(lines) + "\n"
        if not self.streams:
            fail(root, "no field of a file is converted")

    def include(self, element, depth):
        """Reads the files that elements name."""
        source = element.get("src")
        if source and depth < 20:
            try:
                root = read(self.path.parent / source, source)
                element.attrib = root.attrib | element.attrib
                element.extend(root)
            except (OSError, expat.ExpatError) as problem:
                fail(element, f"'{source}': {problem}")
        for child in element:
            self.include(child, depth + bool(source))

    @staticmethod
    def inherited(parent, element):
        own = {k: v for k, v in element.items() if k != ":place"}
        return {k: v for k, v in parent.items() if k not in ("id", "src")} | own

    def duration(self, text):
        parts = re.fullmatch(r"(\d+)\s*([a-z]+)", text)
        return parts and parts[2] in UNITS and plural(parts[1], UNITS[parts[2]])

    def define(self, element, parent):
        """Collects the definitions of fields and groups; returns the elements of the fields."""
        if element.tag == "file_definition":
            return []
        everything = self.inherited(parent, element) if element.tag.startswith("field") else {}
        fields = [field for child in element for field in self.define(child, everything)]
        own = element.get("id")
        if element.tag == "field":
            fields = [element]
            if own:
                self.fields[own] = everything, (element.text or "").strip()
        elif own:
            self.groups[own] = fields
        return fields

    def files(self, element, parent):
        if element.tag == "field_definition":
            return
        if element.tag == "context":  # AGRIF numbers its nests, and puts the number before names
            self.nest = re.match(r"(\d+_)?", element.get("id", ""))[0]
        everything = self.inherited(parent, element) if element.tag.startswith("file") else {}
        if element.tag == "file" and not is_off(everything):
            self.file(element, everything)
        elif element.tag != "file":
            for child in element:
                self.files(child, everything)

    def file(self, element, all):
        name = all.get("name") or all.get("id", "")

        def refuse(what):
            fail(element, f"file '{name}': {what}")

        if all.get("mode") == "read":
            return refuse("it is read, which is not converted")
        kinds = {}
        self.frequency, split = all.get("output_freq", ""), all.get("split_freq", "")
        self.collect(element, {}, int(all.get("output_level", 10)), kinds)
        frequency = self.frequency
        packed = all.get("compression_level", "0")
        every, new_file = self.duration(frequency), self.duration(split)
        if not kinds:
            return
        if not every or not name:
            return refuse(f"output_freq '{frequency}' is not converted" if name else "has no name")
        known = FILE.split() + ["split_freq"] * bool(new_file)
        for key in sorted(all.keys() - known):
            refuse(f"{key} is not converted")
        # NEMO puts words such as @freq@ into names, for which it substitutes values.
        path = (name + all.get("name_suffix", "")).replace("@freq@", frequency)
        path = path.replace("@startdate@", "{start:YYYYMMDD}")
        path = path.replace("@enddate@", "{last:YYYYMMDD}" if new_file else "@enddate@")
        for word in re.findall("_?@[a-z]+@", path):
            refuse(f"'{word}' in its name is not known, and left out")
            path = path.replace(word, "").lstrip("_")
        path = self.nest + path
        if new_file and "{" not in path:
            path += "_{start:YYYYMMDD}-{last:YYYYMMDD}"
        # Each kind (instants, statistics, fields without time) and sampling needs its own stream.
        for number, ((kind, sample), fields) in enumerate(kinds.items(), 1):
            suffix = f"_{number}" * (number > 1)
            once, op = kind == "once", fields[0]["op"]
            lines = [f'every = "{"once" if once else every}"']
            lines += [f"path = {quoted(path + suffix + '.nc')}"]
            lines += [f'op = "{op}"'] * (op != "mean") + [f'sample = "{sample}"'] * bool(sample)
            lines += [f'new_file = "{new_file}"'] * bool(new_file and not once)
            lines += [f'file = {{ format = "netcdf4", deflate = {packed} }}'] * (packed != "0")
            for field in fields:
                told = {"name": field.pop("name"), "op": op}
                inner = field.pop("inner", "")
                words = [f"{k} = {quoted(v)}" for k, v in field.items() if v and told.get(k) != v]
                words += [f'inner = {{ op = "range", every = "{inner}" }}'] * bool(inner)
                lines.append(f"field.{quoted(told['name'])} = {{ {', '.join(words)} }}")
            stream = re.sub("[/{}]", "_", self.nest + element.get("id", name) + suffix)
            while stream in self.streams:
                stream += "_"
            self.streams[stream] = lines

    def collect(self, element, parent, level, kinds):
        """Collects the fields of a file by their kind and samples."""
        for child in element:
            everything = self.inherited(parent, child)
            if is_off(everything):
                continue
            group = child.get("group_ref")
            if child.tag == "field":
                self.add(child, child, everything, level, kinds)
            elif child.tag == "field_group":
                self.collect(child, everything, level, kinds)
                if group and group not in self.groups:
                    fail(child, f"no group '{group}' is defined here")
                for field in self.groups.get(group, []):
                    self.add(child, field, self.inherited(everything, field), level, kinds)
            else:
                name = child.get("name") or child.get("id")
                fail(child, f"{child.tag} '{name}' is not converted")

    def add(self, element, field, own, level, kinds):
        """Adds a field that an element of a file, or of a group there, names."""
        ref = field.get("id", "") if field is not element else ""
        ref = ref or field.get("field_ref") or field.get("id", "")
        name, text, of = field.get("name"), (field.text or "").strip(), ref
        for _ in range(20):  # a definition may refer to another one
            attributes, expression = self.fields.get(of, ({}, ""))
            name, text, own = name or attributes.get("name"), text or expression, attributes | own
            following = attributes.get("field_ref")
            if not following:
                break
            of = following
        field = {"name": name or ref, "of": of, "op": OPS.get(own.get("operation"))}
        if is_off(own) or int(own.get("level", 0)) > level:
            return

        def refuse(what):
            fail(element, f"field '{field['name']}': {what}")

        if of not in self.fields and not own.get("operation"):
            return refuse("it is not defined here; the file that includes this one may define it")
        if not field["op"]:
            return refuse(f"operation '{own.get('operation', '')}' is not converted")
        samples = own.get("freq_op", "1ts")
        if not self.duration(samples):
            return refuse(f"freq_op '{samples}' is not converted")
        computed = self.computed(text, samples) if text else {}
        if text and not computed:
            return refuse(f"'{text}' is not converted")
        if computed and "weight" not in computed and "op" not in computed and not own.get("unit"):
            return refuse(f"'{text}' has no unit")
        field |= computed
        for key in sorted({*element.keys()} - {*FIELD.split()}):
            refuse(f"{key} '{element.get(key)}' is not converted")
            if key.endswith("_ref"):  # other elements, or a reduction
                return
        every = samples != "1ts" and field["op"] not in ("instant", "once") and "@" not in text
        field |= {"type": "double" if own.get("prec") == "8" else "", "units": own.get("unit")}
        field |= {key: own.get(key) for key in ("long_name", "standard_name", "cell_methods")}
        kind = field["op"] if field["op"] in ("instant", "once") else "mean"
        kinds.setdefault((kind, every and self.duration(samples)), []).append(field)

    def computed(self, text, samples):
        """Returns the keys of a weighted mean ('@a_b / @b', with a_b defined as 'a * b'), a
        standard deviation, a mean range, or an expression of the model's fields."""

        def defined(name, operation="average"):
            attributes, expression = self.fields.get(name, ({}, ""))
            return attributes.get("operation") == operation and (
                re.split(r"\s*\*\s*", expression) if expression else [attributes.get("field_ref")]
            )

        names = re.findall(r"@?\b[A-Za-z_]\w*", text)
        plain = [w for w in names if w not in ("sqrt", "exp", "log")]
        if not plain:
            return {}
        first, last = plain[0][1:], plain[-1][1:]
        form = re.sub(r"@\w+", "@", re.sub(r"\s", "", text))
        if form == "@-@" and defined(first, "maximum") and defined(last, "minimum"):
            of = defined(first, "maximum")
            if of == defined(last, "minimum") and of[0]:
                return {"of": of[0], "op": "mean", "inner": self.duration(samples)}
        if form == "sqrt(@-@*@)" and samples == self.frequency and plain[1] == plain[2]:
            return {"of": last, "op": "std"} if defined(first) == [last, last] else {}
        factors = defined(first) or []
        if form == "@/@" and samples == self.frequency and len(factors) == 2 and last in factors:
            factors.remove(last)
            return {"of": factors[0], "op": "mean", "weight": last}
        declared = [self.fields.get(w, ({"field_ref": w}, "")) for w in plain]
        own = all("field_ref" not in a and not e for a, e in declared)
        return {"of": text} if own and re.fullmatch(r"[\w\s.()+*/-]+", text) else {}


class Mpas:
    """The output streams of MPAS."""

    def __init__(self, path, root):
        self.path, self.text = path, ""
        for element in root:
            if element.tag in ("stream", "immutable_stream"):
                self.stream(element)
        if not self.text:
            fail(root, "no stream is converted")

    @staticmethod
    def duration(text):
        """Converts an interval such as '1_06:00:00' (days, hours and so on)."""
        form = r"(?:(?:(?:(\d+)-)?(\d+)-)?(\d+)_)?(?:(?:(\d+):)?(\d+):)?(\d+)"
        parts = re.fullmatch(form, text)
        year, month, *rest = (int(n or 0) for n in parts.groups()) if parts else [0] * 6
        months = 12 * year + month
        seconds = sum(n * length for n, length in zip(rest, (86400, 3600, 60, 1), strict=True))
        if (months > 0) == (seconds > 0):
            return None
        if months:
            return plural(months, "month") if month else plural(year, "year")
        units = {86400: "day", 3600: "hour", 1: "second"}
        length = next(length for length in units if seconds % length == 0)
        return plural(seconds // length, units[length])

    def stream(self, element):
        name, every = element.get("name"), element.get("output_interval", "none")

        def refuse(what):
            fail(element, f"stream '{name}': {what}")

        # A file that completes another one may leave out the type.
        kind = element.get("type", "output" if element.tag == "stream" else "restarts")
        if every == "none" or kind == "input" or (kind != "output" and element.tag != "stream"):
            return
        if kind != "output":
            return refuse("it is also read, which is not converted")
        once, interval = every == "initial_only", self.duration(every)
        if not once and not interval:
            return refuse(f"output_interval '{every}' is not converted")
        fields = [field for child in element for field in self.names(child)]
        path, files = element.get("filename_template", ""), element.get("filename_interval", "")
        reference = element.get("reference_time", "initial_time")
        date = re.fullmatch(r"(\d+)-(\d\d?)-(\d\d?)_(.+)", reference)
        anchor = "{:0>4}-{:0>2}-{:0>2} {}".format(*date.groups()) if date else "start"
        if not date and reference != "initial_time":
            return refuse(f"reference_time '{reference}' is not converted")
        keys = f'every = "{interval}"\nop = "instant"\ninitial = true\nanchor = "{anchor}"\n'
        if "$" in path and self.duration(files) not in (None, interval):
            keys += f'new_file = "{self.duration(files)}"\nboundary = "next"\n'
        elif "$" in path and files != "none":
            keys += "records = 1\n"
        for token, words in TOKENS.items():
            path = path.replace(token, f"{{start:{words}}}")
        if not fields or "$" in path:
            return refuse(f"'{path}' is not converted" if fields else "it has no fields")
        keys = 'every = "once"\n' if once else keys
        real = {"single": "float", "double": "double"}.get(element.get("precision"), "same")
        for form in re.findall("netcdf4|cdf5", element.get("io_type", "")):
            keys += f'file = {{ format = "{form}" }}\n'
        self.text += f"[[stream]]\nname = {quoted(name)}\n{keys}type = {quoted(real)}\n"
        self.text += f"fields = {quoted(fields)}\npath = {quoted(path)}\n\n"

    def names(self, child):
        """Returns the names of the fields that an element names."""
        if child.tag in ("var", "var_array"):
            return [child.get("name")]
        try:
            if child.tag == "file":
                lines = (self.path.parent / child.get("name")).read_text().splitlines()
                return [line.strip() for line in lines if line.strip() and line.strip()[0] != "#"]
            fail(child, f"{child.tag} '{child.get('name')}' is not converted")
        except OSError as problem:
            fail(child, str(problem))
        return []


def main():
    path, text = Path(sys.argv[1]), ""
    try:
        root = read(path, "")
        text = (Mpas if root.tag == "streams" else Xios)(path, root).text
    except (expat.ExpatError, ValueError) as problem:
        problems.append([getattr(problem, "lineno", 0), f"XML: {problem}"])
    print(json.dumps({"converted": text, "problems": problems}))


main()
