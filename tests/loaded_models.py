"""Imported by a server of the command: builds in advance what the first question to a model would build."""

import asyncio
import functools

import httpcore2
from anthropic._models import construct_type
from anthropic.types import RawMessageStreamEvent
from anthropic.types.beta import BetaRawMessageStreamEvent
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessagesTypeAdapter
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

asyncio.run(Agent(TestModel()).run("hello"))
OpenAIChatModel("none", provider=OpenAIProvider(api_key="none"))
OpenAIResponsesModel("none", provider=OpenAIProvider(api_key="none"))
AnthropicModel("none", provider=AnthropicProvider(api_key="none"))
ModelMessagesTypeAdapter.validate_python([])
for kind in (RawMessageStreamEvent, BetaRawMessageStreamEvent):
    construct_type(type_=kind, value={"type": "message_stop"})
httpcore2.default_ssl_context = functools.cache(httpcore2.default_ssl_context)  # it reads all certificates
httpcore2.default_ssl_context(_trust_env=True)
