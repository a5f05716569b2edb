! SPDX-License-Identifier: Apache-2.0
!
!> Writing files: definitions, puts, steps: part of module thalweg.
module thalweg_writing
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use thalweg_base, only: tw_session, tw_decomposition, tw_file, TW_EHANDLE
  use thalweg_c, only: check, c_text, c_settings, reversed, ending_function, handle_function, &
    opening_function
  use thalweg_int32, only: def_dim_int32 => def_dim, set_record_int32 => set_record, &
    put_box_int32 => put_box, put_section_int32 => put_section
  use thalweg_int64, only: def_dim_int64 => def_dim, set_record_int64 => set_record, &
    put_box_int64 => put_box, put_section_int64 => put_section
  implicit none
  private

  public :: tw_create, tw_def_dim, tw_def_var, tw_put_att, tw_set_var, tw_set_record, tw_enddef, &
    tw_put, tw_put_deferred, tw_put_record, tw_put_record_deferred, tw_put_box, tw_end_step, &
    tw_sync, tw_close, tw_recover

  !> Length of the record dimension in tw_def_dim.
  integer(int64), parameter, public :: TW_UNLIMITED = 0

  !> Values of the argument `later` of tw_set_record: keep the records from the given one on, or
  !> remove them.
  integer(c_int), parameter, public :: TW_KEEP_LATER = 0
  integer(c_int), parameter, public :: TW_DROP_LATER = 1

  !> Values of the argument `longer` of tw_recover: keep a file of the final name that has more
  !> records, or replace it.
  integer(c_int), parameter, public :: TW_KEEP_LONGER = 0
  integer(c_int), parameter, public :: TW_REPLACE_LONGER = 1

  !> call tw_def_dim(file, name, length [, ierr]): defines a dimension; TW_UNLIMITED makes the
  !> record dimension. Needed only for dimensions that no decomposition names.
  !>   length  default or 64-bit integer
  !> Errors: TW_EARG, TW_EEXISTS, TW_ESTATE, TW_EFORMAT, TW_ECLOSED. Local; the same arguments on
  !> every rank.
  interface tw_def_dim
    procedure def_dim_int32, def_dim_int64
  end interface tw_def_dim

  !> call tw_set_record(file, record [, later] [, ierr])
  !>
  !> For a file opened with mode=append: sets which record the first step writes; without this call
  !> it is the one after the last record. Every later step writes the next record. A step writes all
  !> of its record: variables that are not put get the fill value. Only before the definitions end.
  !>   record  from 1 to the number of records plus 1; default or 64-bit integer
  !>   later   the records from this one on: TW_KEEP_LATER (default): they stay until they are
  !>           overwritten; TW_DROP_LATER: they are removed when the definitions end
  !> Errors: TW_EBOUNDS, TW_EARG, TW_ESTATE, TW_ECLOSED. Local; the same arguments on every rank.
  interface tw_set_record
    procedure set_record_int32, set_record_int64
  end interface tw_set_record

  ! These take any array without a copy by the compiler or this interface: its descriptor passes
  ! type, kind, rank, extents and strides.
  interface

    !> call tw_put(file, name, array [, ierr])
    !>
    !> Puts this rank's part of the variable `name`; for a record variable, of the current record,
    !> once in each step. The array can be reused when the call returns.
    !>   array  of type integer (1, 2, 4, 8 bytes), real (4, 8 bytes) or character, with any
    !>          strides: the box of the variable's decomposition, in the decomposition's order, with
    !>          its halo on all ranks or without it on all ranks; if a rank has several boxes, with
    !>          an additional last dimension that counts them (the extents are those of the largest
    !>          box, or those set with tw_pad). Replicated variables: all of it, the same on every
    !>          rank; a scalar for a variable without dimensions. Numbers are converted; those that
    !>          do not fit the variable's type become the fill value (tw_end_step then returns
    !>          TW_ERANGE). character(len=n) with n /= 1 has an additional first dimension of length
    !>          n. An array that is not allocated counts as empty.
    !> Errors: TW_ENOTFOUND, TW_ETYPE (logical: pass merge(1_int8, 0_int8, mask); complex, derived
    !> types; between numbers and text), TW_ESHAPE, TW_ESTATE, TW_ECLOSED, TW_ENOMEM, or that of an
    !> earlier failed write of the file.
    !> Local, with two exceptions: the first call in define mode, which does tw_enddef; and files
    !> with service inline whose step does not fit into the setting 'staging': then every tw_put is
    !> collective, with puts in the same order on all ranks (the log reports it).
    subroutine tw_put(file, name, array, ierr) bind(C, name='thalweg_f_put')
      import :: tw_file, c_char, c_int
      type(tw_file), intent(in) :: file
      character(len=*, kind=c_char), intent(in) :: name
      type(*), dimension(..), intent(in) :: array
      integer(c_int), intent(out), optional :: ierr
    end subroutine tw_put

    !> call tw_put_deferred(file, name, array [, ierr])
    !>
    !> As tw_put, but without the copy: the array must stay unchanged, and at its address, until
    !> tw_end_step, tw_sync or tw_close of the file returns. So it must be a variable or a section
    !> of one, not an expression, and should have the attribute target or asynchronous. Beware of
    !> dummy arguments that are contiguous, of explicit shape or of assumed size: if the actual
    !> argument is a section that is not contiguous, they are a copy that is gone when the procedure
    !> returns. If the library detects that (docs/arrays.md), the call that would write the array
    !> returns TW_EARG; not every case is detected. tw_put is safe with any array.
    subroutine tw_put_deferred(file, name, array, ierr) bind(C, name='thalweg_f_put_deferred')
      import :: tw_file, c_char, c_int
      type(tw_file), intent(in) :: file
      character(len=*, kind=c_char), intent(in) :: name
      type(*), dimension(..), intent(in), asynchronous :: array
      integer(c_int), intent(out), optional :: ierr
    end subroutine tw_put_deferred

    !> call tw_put_att(file, var, name, value [, ierr])
    !>
    !> Sets an attribute of a variable or, with var = '', of the file.
    !>   value  a character scalar (trailing blanks included), or a number or rank-1 array of
    !>          numbers: integer (1, 2, 4, 8 bytes) or real (4, 8 bytes). The attribute gets its
    !>          type.
    !> Allowed until tw_close. It must be the same on every rank (tw_enddef or tw_close reports
    !> differences); with the setting attributes=first, those of rank 0 are taken.
    !> Errors: TW_ENOTFOUND, TW_ETYPE, TW_ESHAPE (rank above 1), TW_EFORMAT (8-byte integers need
    !> CDF-5), TW_ESTATE, TW_ECLOSED, TW_ENOMEM. Local.
    subroutine tw_put_att(file, var, name, value, ierr) bind(C, name='thalweg_f_put_att')
      import :: tw_file, c_char, c_int
      type(tw_file), intent(in) :: file
      character(len=*, kind=c_char), intent(in) :: var, name
      type(*), dimension(..), intent(in) :: value
      integer(c_int), intent(out), optional :: ierr
    end subroutine tw_put_att


    !> call tw_put_record(file, name, array [, decomposition], record [, ierr])
    !>
    !> Puts this rank's part of any record of a variable, by any decomposition: the counterpart of
    !> tw_get. Records may be put in any order, and repeatedly; they become part of the file at the
    !> next tw_end_step, tw_sync or tw_close. In an existing record, elements that no rank puts keep
    !> their values; in a new one, they get the fill value. In one step, a rank must put a record of
    !> a variable either with tw_put or with tw_put_record and tw_put_box, not with both.
    !>   array          as for tw_put; can be reused when the call returns
    !>   decomposition  elements that each rank holds, by name or position (see tw_decompose); without
    !>                  it, every rank holds the whole variable, and rank 0's values are written
    !>   record         from 1; ignored for variables without record dimension
    !> Errors: TW_ENOTFOUND, TW_ETYPE, TW_ESHAPE, TW_EBOUNDS, TW_EOVERLAP, TW_ERANGE, TW_EFORMAT,
    !> TW_ESTATE, TW_ECLOSED, TW_ENOMEM, TW_EHANDLE (the decomposition was never created), or an
    !> earlier error of the file. Local, except the first call in define mode.
    subroutine tw_put_record(file, name, array, decomposition, record, ierr) &
        bind(C, name='thalweg_f_put_record')
      import :: tw_file, tw_decomposition, c_char, c_int
      type(tw_file), intent(in) :: file
      character(len=*, kind=c_char), intent(in) :: name
      type(*), dimension(..), intent(in) :: array
      type(tw_decomposition), intent(in), optional :: decomposition
      integer(c_int), intent(in) :: record
      integer(c_int), intent(out), optional :: ierr
    end subroutine tw_put_record

    !> call tw_put_record_deferred(file, name, array [, decomposition], record [, ierr])
    !>
    !> As tw_put_record, but the array may be read until the next tw_end_step, tw_sync or tw_close
    !> of the file returns: with service inline it is packed straight into the writers' buffers
    !> where all ranks put the record by the same decomposition. It must stay unchanged, and at its
    !> address, until then, so it must be a variable or a section of one (see tw_put_deferred). If
    !> the library detects that it did not (docs/arrays.md), that call returns TW_EARG.
    subroutine tw_put_record_deferred(file, name, array, decomposition, record, ierr) &
        bind(C, name='thalweg_f_put_record_deferred')
      import :: tw_file, tw_decomposition, c_char, c_int
      type(tw_file), intent(in) :: file
      character(len=*, kind=c_char), intent(in) :: name
      type(*), dimension(..), intent(in), asynchronous :: array
      type(tw_decomposition), intent(in), optional :: decomposition
      integer(c_int), intent(in) :: record
      integer(c_int), intent(out), optional :: ierr
    end subroutine tw_put_record_deferred
  end interface

  !> call tw_put_box(file, name, array, start, count [, stride] [, ierr])
  !>
  !> Puts any section of a variable, independent of its decomposition: the counterpart of
  !> tw_get_box. It becomes part of the file at the next tw_end_step, tw_sync or tw_close. Records
  !> and steps have the same rules as for tw_put_record. After an error except TW_ERANGE nothing of
  !> the section has been put, unless it is TW_ENOMEM because the section does not fit into memory
  !> with the rest of the step.
  !>   array         as for tw_put, with as many elements as the section, in the order of the
  !>                 variable's dimensions; can be reused when the call returns. An array that is
  !>                 not contiguous is copied.
  !>   start, count  for all dimensions of the variable, fastest first, the record dimension
  !>                 included; start from 1; a count of 0 puts nothing
  !>   stride        distance of the elements put along each dimension (default: 1). The integers
  !>                 must all be of kind int32 or all of kind int64.
  !> Errors: TW_ENOTFOUND, TW_ETYPE, TW_ESHAPE (start, count, stride and array differ in size),
  !> TW_EARG (a stride below 1), TW_EBOUNDS, TW_ERANGE, TW_ESTATE (tw_put was used for the record in
  !> this step), TW_ECLOSED, TW_ENOMEM, or an earlier error of the file. Local, except the first
  !> call in define mode.
  interface tw_put_box
    procedure put_box_int32, put_box_int64, put_section_int32, put_section_int64
  end interface tw_put_box

  interface
    integer(c_int) function c_def_var(file, name, type, dims, decomposition) &
        bind(C, name='tw_def_var')
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: type
      character(kind=c_char), intent(in) :: dims(*)
      type(c_ptr), value :: decomposition
    end function c_def_var

    integer(c_int) function c_set_var(file, name, settings) bind(C, name='tw_set_var')
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*), settings(*)
    end function c_set_var

    integer(c_int) function c_sync(file, durable) bind(C, name='tw_sync')
      import
      type(c_ptr), value :: file
      integer(c_int), value :: durable
    end function c_sync

    integer(c_int) function c_recover(path, longer, text, length) bind(C, name='tw_recover')
      import
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: longer
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_int64_t), value :: length
    end function c_recover
  end interface
  procedure(opening_function), bind(C, name='tw_create') :: c_create
  procedure(handle_function), bind(C, name='tw_enddef') :: c_enddef
  procedure(handle_function), bind(C, name='tw_end_step') :: c_end_step
  procedure(ending_function), bind(C, name='tw_close') :: c_close

contains

  !> file = tw_create(io, path [, settings] [, ierr]): creates a netCDF file, which is called
  !> path.part until it is closed.
  !>   path      the same on all ranks; a relative path is relative to rank 0's working directory
  !>   settings  'name=value; ...' for this file only: method, storage, format, ...
  !> Errors: TW_EARG, TW_ESETTING, TW_EMISMATCH, TW_EINUSE (open in this session, or being written
  !> by another session or run), TW_EIO. Collective.
  function tw_create(io, path, settings, ierr) result(file)
    type(tw_session), intent(in) :: io
    character(len=*), intent(in) :: path
    character(len=*), intent(in), optional :: settings
    integer(c_int), intent(out), optional :: ierr
    type(tw_file) :: file
    file%session = io%handle
    call check(c_create(io%handle, c_text(path), c_settings(settings), file%handle), io%handle, &
      'tw_create', ierr)
  end function tw_create

  !> call tw_def_var(file, name, type, dims [, decomposition] [, ierr]): defines a variable.
  !>   type           TW_FLOAT, ...: its type in the file
  !>   dims           names in file order, fastest first, the record dimension last:
  !>                  'lon lat lev time'; '' for a scalar. Names not yet defined that the
  !>                  decomposition has are defined with its lengths. If the last name of a variable
  !>                  with a decomposition is neither defined nor in the decomposition, it becomes
  !>                  the record (unlimited) dimension, unless the file already has one. Without a
  !>                  decomposition, names not yet defined get their lengths from the session's
  !>                  decompositions, which must agree (TW_ESHAPE).
  !>   decomposition  elements that each rank holds; has the variable's dimensions without the
  !>                  record dimension: by name, in any order, or by position (see tw_decompose).
  !>                  Without it the variable is replicated: every
  !>                  rank holds all of it, and rank 0's values are written.
  !> Errors: TW_EARG, TW_EEXISTS, TW_ENOTFOUND, TW_ESHAPE, TW_ETYPE, TW_EFORMAT, TW_ESTATE,
  !> TW_ECLOSED, TW_EHANDLE (the decomposition was never created). Local; the same arguments on
  !> every rank.
  subroutine tw_def_var(file, name, type, dims, decomposition, ierr)
    type(tw_file), intent(in) :: file
    character(len=*), intent(in) :: name
    integer(c_int), intent(in) :: type
    character(len=*), intent(in) :: dims
    type(tw_decomposition), intent(in), optional :: decomposition
    integer(c_int), intent(out), optional :: ierr
    type(c_ptr) :: holders
    holders = c_null_ptr
    if (present(decomposition)) then
      holders = decomposition%handle
      if (.not. c_associated(holders)) then
        call check(TW_EHANDLE, c_null_ptr, 'tw_def_var: the decomposition of '//name// &
          ' was never created', ierr)
        return
      end if
    end if
    call check(c_def_var(file%handle, c_text(name), type, reversed(dims), holders), &
      file%session, 'tw_def_var', ierr)
  end subroutine tw_def_var

  !> call tw_set_var(file, name, settings [, ierr]): settings of one variable, 'name=value;
  !> name=value'. Only before the definitions end.
  !>   fill    the fill value, without the attribute _FillValue: 'fill=0', 'fill=1e30'; of a text
  !>           variable, one character. It is written wherever nothing was put. If the variable has
  !>           the attribute _FillValue as well, the two must be equal
  !>   deflate, shuffle, zstd, quantize, chunks ('deflate=1; chunks=lev=10')
  !>           how the variable is stored in a netCDF-4 file; they override the settings of the
  !>           file, and are ignored in classic formats
  !> Errors: TW_ESETTING, TW_ENOTFOUND, TW_ESTATE. Local; the same arguments on every rank.
  subroutine tw_set_var(file, name, settings, ierr)
    type(tw_file), intent(in) :: file
    character(len=*), intent(in) :: name, settings
    integer(c_int), intent(out), optional :: ierr
    call check(c_set_var(file%handle, c_text(name), c_text(settings)), file%session, &
      'tw_set_var', ierr)
  end subroutine tw_set_var

  !> Ends the definitions: checks that they are the same on all ranks, and writes the header.
  !> Optional: the first tw_put, tw_end_step, tw_sync or tw_close does it. Errors: TW_EMISMATCH,
  !> TW_EFORMAT, TW_EIO, TW_EDIFFERENT (with mode=append: they differ from the file's), TW_ESTATE,
  !> TW_ECLOSED. Collective.
  subroutine tw_enddef(file, ierr)
    type(tw_file), intent(in) :: file
    integer(c_int), intent(out), optional :: ierr
    call check(c_enddef(file%handle), file%session, 'tw_enddef', ierr)
  end subroutine tw_enddef

  !> Writes what was put and ends the current record; the next tw_put belongs to the next record.
  !> Errors: TW_EMISSING (a variable was put on some ranks only), TW_EMISMATCH (with its halo on
  !> some ranks, without it on others), TW_EARG (an array of tw_put_deferred has changed): after
  !> these three the step stays open; TW_ERANGE (values did not fit the variable's type; they become
  !> the fill value), TW_EIO, TW_ECLOSED. With a service, also earlier errors: see docs/services.md.
  !> Collective.
  subroutine tw_end_step(file, ierr)
    type(tw_file), intent(in) :: file
    integer(c_int), intent(out), optional :: ierr
    call check(c_end_step(file%handle), file%session, 'tw_end_step', ierr)
  end subroutine tw_end_step

  !> call tw_sync(file [, durable] [, ierr]): makes all records ended so far visible to other
  !> programs and, with durable = .true., syncs them to the device. For a file open for reading:
  !> looks for new records. Errors: as tw_end_step. Collective.
  subroutine tw_sync(file, durable, ierr)
    type(tw_file), intent(in) :: file
    logical, intent(in), optional :: durable
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: flag
    flag = 0
    if (present(durable)) flag = merge(1_c_int, 0_c_int, durable)
    call check(c_sync(file%handle, flag), file%session, 'tw_sync', ierr)
  end subroutine tw_sync

  !> call tw_close(file [, ierr]): writes what is left, completes the file and gives it its final
  !> name. Calls with `file` return TW_EHANDLE after this, calls with a copy of it TW_ECLOSED until
  !> tw_finalize. Errors: as tw_end_step. Collective.
  subroutine tw_close(file, ierr)
    type(tw_file), intent(inout) :: file
    integer(c_int), intent(out), optional :: ierr
    call check(c_close(file%handle), file%session, 'tw_close', ierr)
    if (.not. c_associated(file%handle)) file%session = c_null_ptr
  end subroutine tw_close

  !> call tw_recover(path [, longer] [, text] [, ierr]): completes the file that a killed run left
  !> under its temporary name: keeps the records counted in its header, cuts off everything after
  !> them, and gives the file its final name. An existing file of that name is replaced, unless it
  !> has more records.
  !>   path    the final name or the temporary one, path.part or path.part.N
  !>   longer  TW_KEEP_LONGER (default), or TW_REPLACE_LONGER to replace a file even if it has more
  !>           records
  !>   text    receives a description of the changes, or of the error
  !> Errors: TW_ENOTFOUND, TW_EFORMAT (the run was killed before the definitions were written, or
  !> the file is damaged), TW_EEXISTS (the file of the final name has more records), TW_EINUSE (a
  !> run is still writing it), TW_EIO; after an error nothing has been changed. Local: one process
  !> calls it, without a session and without MPI.
  subroutine tw_recover(path, longer, text, ierr)
    character(len=*), intent(in) :: path
    integer(c_int), intent(in), optional :: longer
    character(len=:), allocatable, intent(out), optional :: text
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: choice
    character(len=4096, kind=c_char) :: words
    character(len=:), allocatable :: said
    integer(c_int) :: status
    words = c_null_char
    choice = TW_KEEP_LONGER
    if (present(longer)) choice = longer
    status = c_recover(c_text(path), choice, words, int(len(words), int64))
    said = words(:index(words, c_null_char) - 1)
    if (present(text)) text = said
    call check(status, c_null_ptr, 'tw_recover: '//said, ierr)
  end subroutine tw_recover

end module thalweg_writing
