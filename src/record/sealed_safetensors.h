#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "record/safetensors.h"

namespace difflab {

/// A safetensors file with a checksum over header and data in its metadata ("seal"), so that a
/// changed bit anywhere is noticed. Any reader of safetensors files can read it.
std::string to_sealed_safetensors(const std::vector<TensorBytes>& tensors,
                                  std::map<std::string, std::string> metadata);

/// Reads such a file, and those of format "difflab checkpoint 1", whose checksum covers the data
/// alone. @throws UserError naming the file if it cannot be read, has no seal or another one.
Safetensors read_sealed_safetensors(const std::filesystem::path& path);

/// The same for a file that was read. @throws UserError
void require_seal(const Safetensors& file, const std::string& name);

}  // namespace difflab
