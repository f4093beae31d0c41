# Debian packages by purpose, and how they are installed. Sourced by quickstart, test and .ci/run.

kheya_build_packages=(
  build-essential cmake ninja-build ccache pkg-config git
  libdnnl-dev libhwy-dev libboost1.81-dev libsimdjson-dev nlohmann-json3-dev libxxhash-dev
  libspdlog-dev libfmt-dev libcli11-dev libre2-dev libutf8proc-dev zlib1g-dev libjpeg62-turbo-dev libpng-dev
  libwebp-dev libtiff-dev libopenjp2-7-dev
)
kheya_run_packages=(curl ca-certificates dataset-fashion-mnist)
kheya_test_packages=(libgtest-dev libgmock-dev libonnx-testdata python3 python3-onnx python3-requests
  clang-format-14)
kheya_full_packages=(clang-14 libclang-rt-14-dev clang-tidy-14 lcov)

# kheya_install PACKAGE...: installs what is missing, with sudo when not root.
kheya_install() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
      missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    echo "    all packages are there"
    return
  fi
  local as_root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || {
      echo "cannot install packages: not root, and there is no sudo" >&2
      echo "hint: as root, run: apt-get install ${missing[*]}" >&2
      exit 1
    }
    as_root=(sudo)
  fi
  echo "    installing ${#missing[@]} packages: ${missing[*]}"
  local log
  log=$(mktemp)
  if ! { "${as_root[@]}" apt-get update -q &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -q --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "hint: the packages are Debian 12's; is this Debian 12, and does apt-get work?" >&2
    exit 1
  fi
  rm -f "$log"
}
