import Glibc

exit(BenchmarkProgram.main())
