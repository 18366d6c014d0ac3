"""All settings: those of the core and of each feature, as one frozen object."""

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError, create_model

from bot.environment import SECRETS, env_file_problem, find_misspelt, proxy_problems, read_secret_files
from bot.errors import SettingsInvalid
from bot.features import FEATURES
from bot.settings import SHARED_GROUPS, Settings, describe_problem

if TYPE_CHECKING:
    AllSettings = Settings
else:
    _GROUPS = (*SHARED_GROUPS, *(each.settings for each in FEATURES if each.settings))
    AllSettings = create_model("AllSettings", __base__=_GROUPS, __doc__=Settings.__doc__)


def load_settings(**given: Any) -> Settings:
    """Read the environment and `.env`; `given` wins. Raises SettingsInvalid with a line per problem."""
    settings, problems = None, list[str]()
    try:
        env_file = given.get("_env_file", AllSettings.model_config.get("env_file"))
        secrets, problems = read_secret_files(SECRETS, has_env_file=env_file is not None)
        problems += proxy_problems()
        settings = AllSettings(**{**secrets, **given})
    except ValidationError as error:
        problems = [*map(describe_problem, error.errors(include_url=False)), *problems]
    except (OSError, UnicodeDecodeError) as error:
        problems = [env_file_problem(error)]
    if settings is None or problems:
        raise SettingsInvalid(problems)
    return settings


def misspelt_settings() -> dict[str, str]:
    """Return names in `.env` and the environment that are no settings, each with the setting that it resembles."""
    names = [*AllSettings.model_fields, *(f"{name}_file" for name in SECRETS)]
    return find_misspelt([name.upper() for name in names])
