"""What is known of first names: which are common words too, and what people of a name are called."""

_WORDS = """
    will may mark rose grace hope joy faith dawn summer autumn winter april june august art bill chase chuck drew
    frank grant jack guy ray rich rob sue pat max ruby amber pearl lily daisy ivy olive iris violet holly heather
    crystal jade ginger sandy sunny sky skye star angel destiny harmony melody charity patience prudence constance
    honor justice liberty haven eden genesis trinity blaze cash chance chip cliff clay cole dale dean duke earl
    ernest gene glen hunter harper carter mason baker cook smith taylor miller cooper porter parker archer fisher
    gardener page king prince major judge bishop pope knight young green black white brown gray grey gold silver
    hill wood woods stone field fields forest lake river brook brooks bush marsh moon sun day night march summers
    price long short small little strong sharp wise best good swift love heart rice bean berry bell ball ford fox wolf
    bird fish lamb hawk crane drake robin jay martin buck colt bear lion tiger cat dog dash dot penny dollar case key
    lock park street church house home mom mum dad father mother brother sister son daughter wife husband friend boy
    girl man woman kid baby boss doc doctor nurse teacher student chef coach captain queen lady lord sir mister miss
    user admin bot test null none new old big real true free happy lucky sweet cool hot cold coffee tea pizza cake
    cookie music song game gamer player dancer lover fan life work job school team group family news shop store market
    table drop select insert delete update from art artist world peace freedom dream dreams rain snow storm cloud fire
    ice water earth air wind light dark shadow ghost magic money time year week car bike van road truck bus train
    jean jeans norm wade walker hall rush pace skip trace tuck miles mercy nick dick peter randy rusty buddy junior
    beach sea ocean island city town country garden flower tree book reader writer painter singer runner driver rider
    travel traveler photo photos photography art yoga gym food bread sugar honey salt pepper chocolate wine beer
    bobs sues marks wills bills jacks rays guys pats car cars mar sol luz paz flor alba clara blanca rosa perla dulce estrella cielo mercedes pilar consuelo
    dolores soledad esperanza milagros amor vida santo cruz rey león
    ernst fleck sommer vogel fuchs klein gross groß lang kurz schwarz weiss weiß braun koch bauer müller schmidt
    schneider richter könig kaiser stern berg bach engel mai
    вера надежда любовь роман слава лев мир злата роза лилия майя марта август заяц волк кот друг мама папа брат
    сестра бабушка дедушка любимый любимая солнце король капитан
"""
NAMES_THAT_ARE_WORDS = frozenset(_WORDS.split())
"""They name somebody only with a capital and not as the first word of a sentence. Also what display names have in
them without being names."""

_CALLED = """
    alexander alex sasha xander | alexandra alex sasha sandra | anthony tony | benjamin ben benny | catherine kate cathy
    cat | katherine kate kathy katie | kathleen kathy | charles charlie chuck | christopher chris | christine chris
    christina tina | daniel dan danny | david dave | deborah debbie deb | edward ed eddie ted | elizabeth liz beth eliza
    betty lizzie | frederick fred | gregory greg | james jim jimmy jamie | jennifer jen jenny | john johnny | joseph joe
    joey | joshua josh | margaret maggie meg peggy | matthew matt | michael mike mick | nicholas nick | patricia pat
    trish patty | patrick pat paddy | peter pete | rebecca becky | richard rick dick richie | robert rob bob bobby |
    samuel sam sammy | samantha sam | stephen steve | steven steve | susan sue susie | theodore ted theo | thomas tom
    tommy | timothy tim | victoria vicky | william will bill billy liam | josé pepe | francisco paco pancho fran |
    guadalupe lupe | ignacio nacho | maría mari | dolores lola | enrique quique | johannes hans | maximilian max |
    александр саша саня шура | александра саша шура | алексей лёша леша | анастасия настя | андрей андрюша | анна аня
    анюта | борис боря | валентина валя | василий вася | виктор витя | виктория вика | владимир вова володя |
    владислав влад | галина галя | григорий гриша | дарья даша | дмитрий дима митя | евгений женя | евгения женя |
    екатерина катя | елена лена | елизавета лиза | иван ваня | ирина ира | константин костя | ксения ксюша | лариса
    лара | людмила люда мила | любовь люба | мария маша маруся | михаил миша | надежда надя | наталья наташа ната |
    наталия наташа | николай коля | ольга оля | павел паша | пётр петя | петр петя | полина поля | роман рома |
    светлана света | сергей серёжа сережа | софья соня | софия соня | станислав стас | степан стёпа | татьяна таня |
    ульяна уля | юлия юля | юрий юра | яков яша | ярослав слава ярик
"""


def _read(called: str) -> dict[str, tuple[str, ...]]:
    """From a name to what its people are called, and the other way round."""
    found: dict[str, list[str]] = {}
    for group in called.split("|"):
        name, *nicknames = group.split()
        found.setdefault(name, []).extend(nicknames)
        for nickname in nicknames:
            found.setdefault(nickname, []).append(name)
    return {name: tuple(others) for name, others in found.items()}


NICKNAMES = _read(_CALLED)
"""By casefolded first name: what those people are called too."""
