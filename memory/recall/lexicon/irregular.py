"""English words whose forms no stemmer brings together: strong verbs and old plurals."""

_FORMS = """
    beat beaten | become became | begin began begun | bend bent | bite bit bitten | bleed bled | blow blew blown |
    break broke broken | breed bred | bring brought | build built | burn burnt | buy bought | catch caught | choose chose
    chosen | come came | creep crept | deal dealt | dig dug | draw drew drawn | dream dreamt | drink drank drunk | drive
    drove driven | eat ate eaten | fall fell fallen | feed fed | feel felt | fight fought | find found | flee fled | fly
    flew flown | forbid forbade forbidden | forget forgot forgotten | forgive forgave forgiven | freeze froze frozen |
    give gave given | go went gone goes | grow grew grown | hang hung | hear heard | hide hid hidden | hold held | keep
    kept | kneel knelt | know knew known | lay laid | lead led | lean leant | learn learnt | leave left | lend lent | lie
    lain lying | lose lost | make made | mean meant | meet met | pay paid | ride rode ridden | ring rang rung | rise rose
    risen | run ran | say said | see saw seen | seek sought | sell sold | send sent | sew sewn | shake shook shaken |
    shine shone | shoot shot | show shown | shrink shrank shrunk | sing sang sung | sink sank sunk | sit sat | sleep
    slept | slide slid | smell smelt | speak spoke spoken | spell spelt | spend spent | spill spilt | spin spun | spoil
    spoilt | stand stood | steal stole stolen | stick stuck | sting stung | strike struck | strive strove | swear swore
    sworn | sweep swept | swell swollen | swim swam swum | swing swung | take took taken | teach taught | tear tore torn |
    tell told | think thought | throw threw thrown | understand understood | wake woke woken | wear wore worn | weep wept |
    win won | wind wound | write wrote written | child children | foot feet | goose geese | man men | mouse mice | person
    people | tooth teeth | woman women | wife wives | life lives | knife knives | half halves | leaf leaves | shelf
    shelves | wolf wolves | loaf loaves | thief thieves
"""

IRREGULAR = {form: word for word, *forms in (line.split() for line in _FORMS.split("|")) for form in forms}
"""From a form to the word that the stemmer gets in its place."""
