"""The document that a call sends: uploaded with it, or one that Telegram has already."""

from simulator.api.errors import BadRequest, TooLarge
from simulator.api.files import StoredFile, Upload
from simulator.api.payloads import SendDocument
from simulator.api.simulation import Simulation

# Bot API documentation, "Sending files".
MAX_SENT = 50 * 1024 * 1024
_ATTACHED = "attach://"


def read_document(sim: Simulation, given: SendDocument) -> Upload | StoredFile:
    """Raises BadRequest where there is none, TooLarge for more than 50 MB."""
    if given.document and not given.document.startswith(_ATTACHED):
        stored = sim.files.find(given.document)
        if stored is None:
            raise BadRequest("wrong file identifier/HTTP URL specified")
        return stored
    upload = given.uploads.get(given.document.removeprefix(_ATTACHED) or "document")
    if not isinstance(upload, Upload):
        raise BadRequest("there is no document in the request")
    if not upload.data:
        raise BadRequest("file must be non-empty")
    if len(upload.data) > MAX_SENT:
        raise TooLarge
    return upload


def keep_file(sim: Simulation, file: Upload | StoredFile) -> StoredFile:
    """The file under an id of its own."""
    if isinstance(file, StoredFile):
        return file
    return sim.files.add(file.data, name=file.name, mime_type=file.mime_type)
