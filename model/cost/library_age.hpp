#pragma once
#include <string>

#include "model/hardware/architecture.hpp"

namespace tbdsim {

/// Share of their later rate that tensor-core products reach under the libraries of the CUDA release in which an architecture
/// appeared, of the next one, and of earlier ones, which have kernels of older architectures only; 1 under later ones, under a
/// stack that names no CUDA, for Turing and Blackwell, whose samples are of their first releases, and for boards without tensor
/// cores.
///
/// Fitted: ResNet-50 in tf32 on the same Ampere boards under CUDA 11.1 and 11.7 (scenarios/published/lambda_pytorch.csv, rows
/// of use `fit`), when its convolutions were modelled otherwise; they say little about it now. Transferred to Volta, Hopper and
/// GeForce boards of Blackwell, and to releases that are older than a B200 or B300. Ada is excepted, as it runs Ampere's compiled
/// kernels; a B300 does not run a B200's (hardware/architectures.toml). `cuda` is a release such as "11.1".
[[nodiscard]] double young_library_share(const Architecture& chip, const std::string& cuda);

/// The same of convolutions whose kernels load ahead, as products since Ampere do. Fitted: those rows on A100 boards. Transferred
/// to Hopper and Blackwell as above.
[[nodiscard]] double young_convolution_share(const Architecture& chip, const std::string& cuda);

}  // namespace tbdsim
