"""What all models have in common."""

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A model whose validator is built at its first use: a command loads two hundred models and uses twenty."""

    model_config = ConfigDict(defer_build=True)
