// SPDX-License-Identifier: Apache-2.0
#ifndef GA_DYNAMICS__ALGORITHM__ISA_HPP_
#define GA_DYNAMICS__ALGORITHM__ISA_HPP_

// The templates of this library live in an inline namespace named after the instruction set they
// are compiled for. The library compiles its double-precision kernels more than once
// (src/kernels.cpp) and picks one at run time; were the names equal, the linker would merge the
// copies and an old processor could meet an instruction it lacks.
// A program that is itself compiled for AVX2 gets templates of its own for the same reason.
#ifndef GA_DYNAMICS_ISA
#if defined(__AVX2__)
#define GA_DYNAMICS_ISA caller_avx2
#else
#define GA_DYNAMICS_ISA generic
#endif
#endif

// Scalars whose operations are calls (operation_count.cpp) define this as plain `inline`.
#ifndef GA_DYNAMICS_INLINE
#define GA_DYNAMICS_INLINE [[gnu::always_inline]] inline
#endif

#endif  // GA_DYNAMICS__ALGORITHM__ISA_HPP_
