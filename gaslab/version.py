"""The version, alone, so that every layer may say it; pyproject.toml takes it from here."""

__version__ = "0.1.0"
