"""The base of models that commands load at their start."""

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A model whose validator is built at its first use: a command loads two hundred models and uses twenty.

    Models that are loaded only where they are used gain nothing by it and are Pydantic's own.
    """

    model_config = ConfigDict(defer_build=True)
