! SPDX-License-Identifier: Apache-2.0
!
!> Opening and reading files: part of module thalweg. A file that is being written can also be read
!> through its own handle, in the state of the last tw_sync.
module thalweg_reading
  use, intrinsic :: iso_c_binding
  use thalweg_base, only: tw_session, tw_decomposition, tw_file
  use thalweg_c, only: check, c_text, c_settings, handle_function, opening_function
  use thalweg_int32, only: get_box_int32 => get_box, get_section_int32 => get_section
  use thalweg_int64, only: get_box_int64 => get_box, get_section_int64 => get_section
  implicit none
  private

  public :: tw_open, tw_get, tw_get_deferred, tw_get_box, tw_read, tw_prefetch

  !> call tw_get_box(file, name, array, start, count [, stride] [, ierr])
  !>
  !> Reads any section of a variable, independent of its decomposition. Each rank passes its own
  !> section, of any records.
  !>   array          with as many elements as the section, in the order of the variable's
  !>                  dimensions. An array that is not contiguous is filled from a copy.
  !>   start, count   for all dimensions of the variable, fastest first, the record dimension
  !>                  included; start from 1; a count of 0 reads nothing
  !>   stride         distance of the elements read along each dimension (default: 1). The integers
  !>                  must all be of kind int32 or all of kind int64
  !> Errors: TW_ENOTFOUND, TW_ETYPE, TW_ESHAPE (start, count, stride and array differ in size, on
  !> any rank), TW_EARG (a stride below 1), TW_EBOUNDS, TW_ERANGE, TW_EMISMATCH (the variable differs
  !> between ranks), TW_EIO, TW_ECLOSED, TW_ENOMEM. Collective.
  interface tw_get_box
    procedure get_box_int32, get_box_int64, get_section_int32, get_section_int64
  end interface tw_get_box

  interface

    !> call tw_get(file, name, array [, decomposition] [, record] [, ierr])
    !>
    !> Reads this rank's part of a variable, whatever the order of its dimensions in the file.
    !>   array          as for tw_put; halos are left unchanged unless tw_fill_halo was called
    !>   decomposition  elements that each rank reads; without it every rank reads the whole variable
    !>   record         from 1 (the default); ignored for variables without record dimension
    !> Errors: TW_ENOTFOUND, TW_ETYPE, TW_ESHAPE, TW_EBOUNDS (no such record), TW_ERANGE, TW_EIO,
    !> TW_EHANDLE (the decomposition was never created). Collective.
    subroutine tw_get(file, name, array, decomposition, record, ierr) bind(C, name='thalweg_f_get')
      import :: tw_file, tw_decomposition, c_char, c_int
      type(tw_file), intent(in) :: file
      character(len=*, kind=c_char), intent(in) :: name
      type(*), dimension(..), intent(inout) :: array
      type(tw_decomposition), intent(in), optional :: decomposition
      integer(c_int), intent(in), optional :: record
      integer(c_int), intent(out), optional :: ierr
    end subroutine tw_get

    !> call tw_get_deferred(file, name, array [, decomposition] [, record] [, ierr])
    !>
    !> Requests what tw_get would read; the next tw_read reads it, with everything else requested.
    !> The array must stay at its address until then: it must be a variable or a section of one, not
    !> an expression, with the attribute target or asynchronous; and not a dummy argument that is
    !> contiguous, of explicit shape or of assumed size, which may be a copy (see tw_put_deferred).
    !> Every rank must request the same in the same order. Errors: as tw_get. Local.
    subroutine tw_get_deferred(file, name, array, decomposition, record, ierr) &
        bind(C, name='thalweg_f_get_deferred')
      import :: tw_file, tw_decomposition, c_char, c_int
      type(tw_file), intent(in) :: file
      character(len=*, kind=c_char), intent(in) :: name
      type(*), dimension(..), intent(inout), asynchronous, target :: array
      type(tw_decomposition), intent(in), optional :: decomposition
      integer(c_int), intent(in), optional :: record
      integer(c_int), intent(out), optional :: ierr
    end subroutine tw_get_deferred
  end interface
  procedure(opening_function), bind(C, name='tw_open') :: c_open
  procedure(handle_function), bind(C, name='tw_read') :: c_read
  procedure(handle_function), bind(C, name='tw_prefetch') :: c_prefetch

contains

  !> file = tw_open(io, path [, settings] [, ierr]): opens an existing netCDF file, classic or
  !> netCDF-4, or a set of tiles (path.0000 ...), for reading. With settings='mode=append' it opens
  !> it for adding records: the model defines the file's variables as for tw_create, and steps add
  !> records.
  !> Errors: TW_EARG, TW_ESETTING, TW_EIO, TW_EFORMAT, TW_EINUSE (a netCDF-4 file locked by its
  !> writer); with mode=append also TW_EUNSUPPORTED (a file that cannot be appended to), TW_EINUSE
  !> (open in this session, or being written by another session or run), and when the definitions
  !> end TW_EDIFFERENT (they differ from the file's, which is not changed). Collective.
  function tw_open(io, path, settings, ierr) result(file)
    type(tw_session), intent(in) :: io
    character(len=*), intent(in) :: path
    character(len=*), intent(in), optional :: settings
    integer(c_int), intent(out), optional :: ierr
    type(tw_file) :: file
    file%session = io%handle
    call check(c_open(io%handle, c_text(path), c_settings(settings), file%handle), io%handle, &
      'tw_open', ierr)
  end function tw_open

  !> Reads everything requested with tw_get_deferred, in one pass through the file. Errors: as
  !> tw_get. Collective.
  subroutine tw_read(file, ierr)
    type(tw_file), intent(in) :: file
    integer(c_int), intent(out), optional :: ierr
    call check(c_read(file%handle), file%session, 'tw_read', ierr)
  end subroutine tw_read

  !> Starts to read, in the background, all data that tw_get_deferred has requested so far. The next
  !> tw_read fills the arrays. Errors: TW_EMISMATCH, TW_ENOMEM. Collective.
  subroutine tw_prefetch(file, ierr)
    type(tw_file), intent(in) :: file
    integer(c_int), intent(out), optional :: ierr
    call check(c_prefetch(file%handle), file%session, 'tw_prefetch', ierr)
  end subroutine tw_prefetch

end module thalweg_reading
