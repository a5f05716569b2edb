C     As POP reads and writes its restarts, in the form of old: one block
C     a rank, with a ghost cell all around that the list gives as 0.
C     SPDX-License-Identifier: Apache-2.0
      PROGRAM POP
      USE CHECKS
      USE PIO
      IMPLICIT NONE
      INTEGER NX, NY, KM, NXB, NYB
      PARAMETER (NX = 12, NY = 14, KM = 2)
      INTEGER IERR, IX, JY, K, N, J0, NJ
      INTEGER IDIM, JDIM, KDIM
      REAL*8 UVEL(NX+2, NY+2, KM), BACK(NX+2, NY+2, KM)
      INTEGER*8 DOF((NX+2)*(NY+2)*KM)
      INTEGER KMT(NX+2, NY+2)
      INTEGER*4 DOF4((NX+2)*(NY+2))
      TYPE (IOSYSTEM_DESC_T) IOSYS
      TYPE (FILE_DESC_T) FILE
      TYPE (IO_DESC_T) IOD3, IOD2
      TYPE (VAR_DESC_T) UVAR, KVAR, GVAR
      CHARACTER*80 RUNID
      LOGICAL THERE

      CALL BEGIN
      CALL PIO_INIT(RANK, MPI_COMM_WORLD, 1, 0, 1, PIO_REARR_BOX,
     &              IOSYS, BASE=0)
      CALL SHARE(NY, J0, NJ)
      NXB = NX + 2
      NYB = NJ + 2
      N = 0
      DO 30 K = 1, KM
      DO 20 JY = 1, NYB
      DO 10 IX = 1, NXB
         N = N + 1
         DOF(N) = 0
         UVEL(IX,JY,K) = -1.D30
         IF (IX.GT.1 .AND. IX.LT.NXB .AND. JY.GT.1 .AND. JY.LT.NYB) THEN
            DOF(N) = (IX-1) + NX*(J0+JY-3) + NX*NY*(K-1)
            UVEL(IX,JY,K) = (IX-1) + 100*(J0+JY-2) + 10000*K
         END IF
         IF (K .EQ. 1) THEN
            DOF4(N) = DOF(N)
            KMT(IX,JY) = MOD(IX+J0+JY, 7)
         END IF
   10 CONTINUE
   20 CONTINUE
   30 CONTINUE
      CALL PIO_INITDECOMP(IOSYS, PIO_DOUBLE, (/NX,NY,KM/), DOF(1:N),
     &                    IOD3)
      CALL PIO_INITDECOMP(IOSYS, PIO_INT, (/NX,NY/),
     &                    DOF4(1:NXB*NYB), IOD2)

      IERR = PIO_CREATEFILE(IOSYS, FILE, PIO_IOTYPE_PNETCDF,
     &     'pop.nc   ', PIO_CLOBBER)
      CALL CHECK_CODE(IERR, PIO_NOERR, 'createfile')
      GVAR%VARID = PIO_GLOBAL
      IERR = PIO_PUT_ATT(FILE, GVAR, 'runid', 'b40  ')
      CALL CHECK_CODE(IERR, PIO_NOERR, 'put_att')
      IERR = PIO_PUT_ATT(FILE, GVAR, 'nsteps_total', 17)
      IERR = PIO_PUT_ATT(FILE, GVAR, 'tday', 3.25D0)
      IERR = PIO_DEF_DIM(FILE, 'i', NX, IDIM)
      IERR = PIO_DEF_DIM(FILE, 'j', NY, JDIM)
      IERR = PIO_DEF_DIM(FILE, 'k', KM, KDIM)
      IERR = PIO_DEF_VAR(FILE, 'UVEL', PIO_DOUBLE, (/IDIM,JDIM,KDIM/),
     &                   UVAR)
      IERR = PIO_DEF_VAR(FILE, 'KMT', PIO_INT, (/IDIM,JDIM/), KVAR)
      IERR = PIO_ENDDEF(FILE)
      CALL CHECK_CODE(IERR, PIO_NOERR, 'enddef')
      CALL PIO_WRITE_DARRAY(FILE, UVAR, IOD3, UVEL(:,1:NYB,:), IERR)
      CALL CHECK_CODE(IERR, PIO_NOERR, 'write UVEL')
      KVAR%VARID = 2
      CALL PIO_WRITE_DARRAY(FILE, KVAR, IOD2,
     &     RESHAPE(KMT(:,1:NYB), (/NXB*NYB/)), IERR)
      CALL CHECK_CODE(IERR, PIO_NOERR, 'write KMT')
      CALL PIO_CLOSEFILE(FILE)
      INQUIRE (FILE='pop.nc', EXIST=THERE)
      CALL CHECK(THERE, 'the file')

      IERR = PIO_OPENFILE(IOSYS, FILE, PIO_IOTYPE_PNETCDF, 'pop.nc',
     &                    PIO_NOWRITE)
      CALL CHECK_CODE(IERR, PIO_NOERR, 'openfile')
      CALL PIO_SETERRORHANDLING(FILE, PIO_BCAST_ERROR)
      IERR = PIO_INQ_VARID(FILE, 'VVEL', KVAR)
      CALL CHECK_CODE(IERR, -49, 'VVEL')
      IERR = PIO_GET_ATT(FILE, PIO_GLOBAL, 'runid', RUNID)
      CALL CHECK(RUNID .EQ. 'b40', 'runid')
      IERR = PIO_INQ_VARID(FILE, 'UVEL', UVAR)
      BACK = 7
      CALL PIO_READ_DARRAY(FILE, UVAR, IOD3, BACK(:,1:NYB,:), IERR)
      CALL CHECK_CODE(IERR, PIO_NOERR, 'read UVEL')
      DO 60 K = 1, KM
      DO 50 JY = 1, NYB
      DO 40 IX = 1, NXB
         IF (UVEL(IX,JY,K) .LT. 0) UVEL(IX,JY,K) = 0
         CALL CHECK(ABS(BACK(IX,JY,K) - UVEL(IX,JY,K)) .LT. 1.D-9,
     &        'UVEL')
   40 CONTINUE
   50 CONTINUE
   60 CONTINUE
      CALL PIO_FREEDECOMP(FILE, IOD3)
      CALL PIO_FREEDECOMP(FILE, IOD2)
      CALL PIO_CLOSEFILE(FILE)
      CALL PIO_FINALIZE(IOSYS, IERR)
      CALL FINISH
      END
