"""A `Tool` as a Semantic Kernel function."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NoReturn

from pydantic import BaseModel, ValidationError
from semantic_kernel.filters.functions.function_invocation_context import FunctionInvocationContext
from semantic_kernel.functions.function_result import FunctionResult
from semantic_kernel.functions.kernel_function import KernelFunction
from semantic_kernel.functions.kernel_function_metadata import KernelFunctionMetadata
from semantic_kernel.functions.kernel_parameter_metadata import KernelParameterMetadata

from data_models.errors import ToolInputError
from group_chat.tools.tool import Tool
from group_chat.turn_context import current_turn

PLUGIN = "rounds"
_NOISE = frozenset({"title", "default", "additionalProperties"})


class ToolFunction(KernelFunction):
    """Checks the arguments as one model, so that a wrong one is the model's to mend.

    Semantic Kernel's own parsing puts what the model wrote into logs and traces.
    """

    tool: Tool

    async def _invoke_internal(self, context: FunctionInvocationContext) -> None:
        arguments = checked_arguments(self.tool.arguments, dict(context.arguments))
        output = await self.tool.run(current_turn(), arguments)
        context.result = FunctionResult(function=self.metadata, value=output)

    async def _invoke_internal_stream(self, context: FunctionInvocationContext) -> NoReturn:
        raise NotImplementedError("tools answer whole")


def tool_function(tool: Tool) -> ToolFunction:
    """Return `tool` as a function of the plugin `rounds`."""
    metadata = KernelFunctionMetadata(
        name=tool.name,
        plugin_name=PLUGIN,
        description=tool.description,
        parameters=list(_parameters(tool.arguments)),
        is_prompt=False,
        is_asynchronous=True,
    )
    return ToolFunction(metadata=metadata, tool=tool)


def checked_arguments(shape: type[BaseModel], given: Mapping[str, Any]) -> BaseModel:
    """Return `given` as `shape`.

    Raises:
        ToolInputError: it does not fit; the text names places and rules, never values.
    """
    try:
        return shape.model_validate(given)
    except ValidationError as error:
        problems = error.errors(include_input=False, include_url=False, include_context=False)
        lines = [_problem(row["type"], row["loc"], str(row["msg"])) for row in problems[:5]]
    # Outside the handler, so that the cause with the model's words is not kept.
    raise ToolInputError("the arguments do not fit: " + "; ".join(lines))


def _problem(kind: str, loc: tuple[int | str, ...], message: str) -> str:
    # The name of an extra argument is the model's own text.
    if kind == "extra_forbidden":
        return "there is an argument that this tool does not have"
    return f"{'.'.join(str(part) for part in loc)}: {message}"


@lru_cache(maxsize=256)
def _parameters(arguments: type[BaseModel]) -> tuple[KernelParameterMetadata, ...]:
    """Return what models are told of `arguments`; made once, though many agents have the tool."""
    schema = arguments.model_json_schema()
    required = set(schema.get("required", ()))
    return tuple(
        KernelParameterMetadata(
            name=name,
            description=row.get("description"),
            is_required=name in required,
            schema_data=_inlined(row, schema.get("$defs", {})),
        )
        for name, row in schema.get("properties", {}).items()
    )


def _inlined(node: Any, definitions: Mapping[str, Any]) -> Any:
    """Return the schema without references and noise: models pay for each character."""
    if isinstance(node, list):
        return [_inlined(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _inlined(definitions[str(node["$ref"]).rsplit("/", 1)[-1]], definitions)
    kept: dict[str, Any] = {}
    for key, value in node.items():
        if key == "properties":
            kept[key] = {name: _inlined(row, definitions) for name, row in value.items()}
        elif key not in _NOISE:
            kept[key] = _inlined(value, definitions)
    return kept
