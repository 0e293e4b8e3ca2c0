"""From a spec to a model on the server that has been read back and compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ollama_kit.builder.build_records import (
    BuildRecord,
    find_build_record,
    keep_build_record,
    remove_leftovers,
    request_digest,
    temporary_name,
)
from ollama_kit.builder.expected import Difference, Expected, check_expectations, expected_model
from ollama_kit.errors import BuildError, BuildMismatch, ModelfileError, ModelMissing, ServerError, ServerRefused
from ollama_kit.modelfile.reader import read_modelfile
from ollama_kit.modelfile.render import render_modelfile
from ollama_kit.modelfile.request import CreateRequest, create_request, create_request_from_spec
from ollama_kit.modelfile.versions import ServerVersion, supports
from ollama_kit.server import blobs, flows
from ollama_kit.server.facts import InstalledModel, ModelFacts
from ollama_kit.server.host import is_cloud_name, require_local
from ollama_kit.server.model_names import check_model_name
from ollama_kit.server.server import Server
from ollama_kit.specs.model import ModelSpec
from ollama_kit.tokens.template_choice import template_in_force

Status = Literal["current", "created", "updated", "would create", "would update"]


@dataclass(frozen=True)
class BuildOptions:
    """`name` is the model's name if it is not the spec's. `dry_run` reads and compares, and changes nothing."""

    name: str = ""
    force: bool = False
    dry_run: bool = False
    allow_remote: bool = False


@dataclass(frozen=True)
class BuildResult:
    """What a build did. `differences` are those found before it; `digest` is the manifest's, hex."""

    name: str
    status: Status
    host: str
    digest: str = ""
    base: str = ""
    differences: tuple[Difference, ...] = ()
    removed_leftovers: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def build(
    spec: ModelSpec, server: Server, options: BuildOptions = BuildOptions(), progress: blobs.Progress = blobs.quiet
) -> BuildResult:
    """Builds the model that the spec describes on the server, and proves it.

    The model is created under a temporary name, read back, compared, and only then copied to its own name: a build
    that fails, is interrupted or comes out unequal leaves the old model as it was. Raises ExpectationFailed,
    BuildMismatch, or any ServerError.
    """
    return _Build(spec, server, options, progress).run()


class _Build:
    """One build; each step is a method, in the order in which `run` takes them."""

    def __init__(self, spec: ModelSpec, server: Server, options: BuildOptions, progress: blobs.Progress) -> None:
        self.spec, self.server, self.options, self.progress = spec, server, options, progress
        self.name = options.name or spec.name
        self.notes: list[str] = []

    def run(self) -> BuildResult:
        check_model_name(self.name)
        for name in (self.spec.base, self.name):
            if is_cloud_name(name):
                require_local(self.server.host, None, allow_remote=self.options.allow_remote, model=name)
        installed = self.server.models()
        request = create_request_from_spec(self.spec)
        old = self._show(self.name, installed)
        if old and not self.options.force and self._record_holds(request, old, installed):
            return self._result("current", old.digest)
        base = self._base(installed)
        if base:
            require_local(self.server.host, base, allow_remote=self.options.allow_remote)
            check_expectations(self.spec, base)
        expected = expected_model(request, base, self._source_blob())
        differences = expected.differences(old) if old else ()
        # What a quantized file was made from cannot be seen on the server: without a record it is built again.
        if old and not differences and not self.options.force and not request.quantize and not request.adapters:
            self._keep_record(request, installed, old.digest)
            return self._result("current", old.digest)
        if self.options.dry_run:
            return self._result("would update" if old else "would create", "", differences)
        removed = remove_leftovers(self.server, installed)
        self._create(base, expected)
        installed = self.server.models()
        digest = flows.digest_of(self.name, installed)
        self._keep_record(request, installed, digest)
        return replace(self._result("updated" if old else "created", digest, differences), removed_leftovers=removed)

    def _show(self, name: str, installed: tuple[InstalledModel, ...]) -> ModelFacts | None:
        if not flows.digest_of(name, installed):
            return None
        return self.server.run(flows.show(name, self.server.url, verbose=False, installed=installed))

    def _base(self, installed: tuple[InstalledModel, ...]) -> ModelFacts | None:
        """The base's facts; pulled first if the server lacks it. None where the base is a file."""
        if self.spec.base_path:
            if self.spec.base_path.is_dir():
                raise BuildError(
                    f"{self.spec.base_path} is a folder; a base must be a model's name or a GGUF file",
                    hint="Convert safetensors with llama.cpp's convert_hf_to_gguf.py first.",
                )
            return None
        found = self._show(self.spec.base, installed)
        if found is None and not self.options.dry_run:
            self._pull(installed)
            found = self.server.show(self.spec.base)
        if found is None:
            raise ModelMissing(
                f"the base {self.spec.base} is not on {self.server.url}; a build would pull it",
                model=self.spec.base,
                installed=[model.name for model in installed],
                url=self.server.url,
            )
        return found

    def _pull(self, installed: tuple[InstalledModel, ...]) -> None:
        try:
            self.server.pull(self.spec.base, self.progress)
        except ServerRefused as error:
            name = self.spec.base
            raise ModelMissing(
                f"the base {name} is not on {self.server.url} and could not be pulled: {error.message}",
                model=name,
                installed=[model.name for model in installed],
                url=self.server.url,
                hint=(
                    f"Run `ollama pull {name}` with Internet access; or build on a model you have: --from NAME.",
                    f"请在能上网时运行 `ollama pull {name}`，或用 --from 指定已有的模型。",
                ),
            ) from error

    def _source_blob(self) -> str:
        if not self.spec.base_path:
            return ""
        return blobs.digest_of_file(self.spec.base_path, progress=self.progress).removeprefix("sha256:")

    def _record_holds(self, request: CreateRequest, old: ModelFacts, installed: tuple[InstalledModel, ...]) -> bool:
        record = find_build_record(self.server.url, self.name)
        return (
            record is not None
            and record == BuildRecord(self._request_digest(request), self._base_digest(installed), old.digest)
            and not expected_model(request, None).differences(old)
        )

    def _keep_record(self, request: CreateRequest, installed: tuple[InstalledModel, ...], digest: str) -> None:
        made = BuildRecord(self._request_digest(request), self._base_digest(installed), digest)
        keep_build_record(self.server.url, self.name, made)

    def _request_digest(self, request: CreateRequest) -> str:
        adapters = {Path(path).name: blobs.digest_of_file(Path(path)) for path in request.adapters}
        return request_digest(request.body(self.name, adapters=adapters))

    def _base_digest(self, installed: tuple[InstalledModel, ...]) -> str:
        return self._source_blob() if self.spec.base_path else flows.digest_of(self.spec.base, installed)

    def _create(self, base: ModelFacts | None, expected: Expected) -> None:
        version = self.server.version()
        if not supports(version, "create_fields"):
            raise BuildError(
                f"{self.server.url} is Ollama {version}; a build needs 0.5.5 or later",
                hint=f"Upgrade it, or run `ollama-kit render {self.name} --target {version}` and `ollama create -f`.",
            )
        request = self._request(version)
        files, adapters = self._uploaded(request.files), self._uploaded(request.adapters)
        temporary = temporary_name(self.name)
        try:
            self.server.create(request.body(temporary, files, adapters), self.progress)
            made = self.server.show(temporary)
            if base is None:
                check_expectations(self.spec, made)
            differences = expected.differences(made)
            if any(found.key == "template" for found in differences):
                self._refuse_ignored_template(made, version)
            if differences:
                raise BuildMismatch(
                    "the server did not build what the spec says; the existing model is unchanged:\n  "
                    + "\n  ".join(map(str, differences))
                )
            self.server.copy(temporary, self.name)
        finally:
            self._forget(temporary)

    def _refuse_ignored_template(self, made: ModelFacts, version: ServerVersion) -> None:
        """BuildMismatch with the cause and the ways out, where the server runs the weights' own template in the place
        of the spec's."""
        runs = template_in_force(made, version)
        if not runs.is_native:
            return
        raise BuildMismatch(
            f"the server would ignore the spec's `template`, and run the weights' own Jinja template ({runs.because}); "
            "the existing model is unchanged",
            hint=(
                "Set `renderer` in the spec, OLLAMA_GO_TEMPLATE=1 on the server, or write a `template` with tools.",
                "请在规格文件中设置 `renderer`，在服务器上设置 OLLAMA_GO_TEMPLATE=1，或让 `template` 处理工具。",
            ),
        )

    def _request(self, version: ServerVersion) -> CreateRequest:
        """The rendered Modelfile, read back; where its grammar cannot carry the text, the spec itself."""
        try:
            text = render_modelfile(self.spec, target=version)
            return create_request(read_modelfile(text), target=version, quantize=self.spec.quantize)
        except ModelfileError as problem:
            self.notes.append(f"sent from the spec: the Modelfile format cannot express it: {problem.problem}")
            return create_request_from_spec(self.spec, version)

    def _uploaded(self, paths: tuple[str, ...]) -> Mapping[str, str]:
        for path in paths:
            if Path(path).suffix.lower() != ".gguf":
                raise BuildError(
                    f"{path} is not a GGUF file",
                    hint="Convert a safetensors adapter with llama.cpp's convert_lora_to_gguf.py first.",
                )
        return {Path(path).name: self.server.upload_blob(Path(path), self.progress) for path in paths}

    def _forget(self, temporary: str) -> None:
        """Deletes the temporary name; if that fails, the next build does it."""
        try:
            self.server.delete(temporary)
        except ServerError:
            return

    def _result(self, status: Status, digest: str, differences: tuple[Difference, ...] = ()) -> BuildResult:
        return BuildResult(
            name=self.name,
            status=status,
            host=self.server.url,
            digest=digest,
            base=self.spec.base,
            differences=differences,
            notes=tuple(self.notes),
        )


def diff(
    spec: ModelSpec, server: Server, name: str = "", installed: tuple[InstalledModel, ...] = ()
) -> tuple[Difference, ...]:
    """How the server's copy differs from the spec, without changing anything. ModelMissing if it is not built."""
    installed = installed or server.models()

    def show(model: str) -> ModelFacts:
        return server.run(flows.show(model, server.url, verbose=False, installed=installed))

    built = show(name or spec.name)
    base = show(spec.base) if not spec.base_path and flows.digest_of(spec.base, installed) else None
    blob = blobs.digest_of_file(spec.base_path).removeprefix("sha256:") if spec.base_path else ""
    return expected_model(create_request_from_spec(spec), base, blob).differences(built)
