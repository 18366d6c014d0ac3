"""Stop words by language: articles, pronouns, prepositions, auxiliaries, question words, fillers.

They are function words only, so that they also identify the language of a text. A word that people may talk about
("home", "time") stays a term. We wrote the lists; the keys are the names of Snowball's algorithms.
"""

# ruff: noqa: RUF001 - the letters of other alphabets are meant as they stand

STOP_WORDS: dict[str, str] = {
    "english": """
        i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her
        hers herself it its itself they them their theirs themselves who whom whose what which when where why how
        this that these those here there a an the and but or nor if because as until while of at by for with about
        against between into through during before after above below to from up down in out on off over under
        again further then once am is are was were be been being have has had having do does did doing can
        could will would shall should may might must ought not no so than too very just only own same such both
        each few more most other some any all also else ever even yet
        i'm i've i'd i'll im ive id you're youre you've you'd you'll he's she's it's we're we've we'll they're
        they've they'll that's thats what's whats who's where's there's here's let's don don't dont didn didn't
        doesn doesn't isn isn't aren aren't wasn wasn't weren weren't haven haven't hasn hasn't hadn hadn't won
        won't wouldn wouldn't couldn couldn't shouldn shouldn't ain ain't can't cannot
        s t d m ll re ve hey hi hello yeah yes yep oh wow ok okay well got get im u ur lol please
        thank thanks tell told""",
    "spanish": """
        yo me mi mis mí mío mía míos mías tú tu tus te ti tuyo tuya usted ustedes él ella ello ellos ellas lo la
        los las le les se su sus suyo suya nos nosotros nosotras nuestro nuestra nuestros nuestras os vosotros
        vuestro vuestra quien quién quienes quiénes que qué cual cuál cuales cuáles cuando cuándo donde dónde
        adónde como cómo cuanto cuánto cuanta cuánta cuantos cuántos cuantas cuántas porque por para con sin sobre
        entre hasta desde hacia durante ante bajo según tras a al de del en el un una unos unas y e o u pero mas
        sino si sí no ni también tampoco este esta esto estos estas ese esa eso esos esas aquel aquella aquello
        aquellos aquellas aquí ahí allí allá soy eres es somos son era eras éramos eran fui fue fueron ser sido
        siendo estoy estás está estamos están estaba estaban estuve estuvo estar he has ha hemos han había habían
        haber hay hubo haya muy más menos ya tan tanto todo toda todos todas otro otra otros otras mismo misma
        algo alguien algún alguna algunos algunas cada pues entonces así hola vale gracias oye bueno dime donde
        adonde como cuanto asi aqui esta tambien mas""",
    "german": """
        ich mich mir mein meine meinen meinem meiner meines du dich dir dein deine deinen deinem deiner er ihn ihm
        sein seine seinen seinem seiner seines sie ihr ihre ihren ihrem ihrer ihres es wir uns unser unsere
        unseren unserem unserer euch euer eure man sich wer wen wem wessen was welche welcher welches welchen
        welchem wann wo wohin woher warum wieso weshalb wie der die das den dem des ein eine einen einem einer
        eines und oder aber denn sondern weil dass daß ob wenn als damit obwohl in im an am auf aus bei beim bis
        durch für gegen mit nach ohne seit über um unter von vom vor zu zum zur zwischen hinter neben bin bist ist
        sind seid war warst waren wart gewesen habe hab hast hat haben habt hatte hatten gehabt werde wirst wird
        werden werdet wurde wurden worden kann kannst können könnt konnte konnten muss musst müssen musste soll
        sollst sollen sollte will willst wollen wollte darf dürfen mag möchte nicht kein keine keinen keinem
        keiner nur auch noch schon sehr so da dann dort hier hin her doch mal ja nein dieser diese dieses diesen
        diesem jede jeder jedes jeden alle alles andere anderen etwas nichts viel viele mehr hallo danke bitte
        denn eigentlich also""",
    "portuguese": """
        eu me mim meu minha meus minhas comigo tu te ti teu tua teus tuas você voce vocês voces ele ela eles elas
        lhe lhes se si seu sua seus suas nós nos nosso nossa nossos nossas dele dela deles delas quem que quê qual
        quais quando onde aonde como quanto quanta quantos quantas porque por porquê para pra pro com sem sobre
        entre até desde durante ante sob contra a à ao aos às o os as de do da dos das em no na nos nas num numa
        um uma uns umas e ou mas nem não nao também tambem já ja muito mais menos tão este esta isto estes estas
        esse essa isso esses essas aquele aquela aquilo aqui aí ali lá sou é és somos são era eram fui foi foram
        ser sido sendo estou está estás estamos estão estava estavam estive esteve estar tenho tens tem temos têm
        tinha tinham teve ter hei há havia houve haver vou vai vamos vão ia pelo pela pelos pelas outro outra
        outros outras mesmo mesma todo toda todos todas algum alguma alguns algo alguém cada então assim oi olá
        obrigado obrigada né tá pois sim""",
    "french": """
        je j me m moi mon ma mes mien mienne tu t te toi ton ta tes il elle on ils elles lui leur leurs se s soi
        son sa ses nous notre nos vous votre vos qui que qu quoi dont où quand comment pourquoi combien quel
        quelle quels quelles lequel laquelle le l la les un une des du de d au aux à en dans sur sous avec sans
        pour par chez vers entre depuis pendant avant après jusque et ou mais donc or ni car si ne n pas plus
        moins très trop aussi bien encore déjà ce c cet cette ces ça cela ceci celui celle ceux y là ici suis es
        est sommes êtes sont étais était étaient être sera serait ai as a avons avez ont avais avait avaient
        eu avoir aura fait faire fais peux peut pouvez veux veut va vais vas vont aller dit tout toute tous toutes
        autre autres même quelque quelques chaque rien comme alors oui non merci bonjour salut quelqu lorsque
        puisque parce""",
    "italian": """
        io me mi mio mia miei mie tu te ti tuo tua tuoi tue lui lei egli ella esso essa gli le lo la li ne si se
        sé suo sua suoi sue noi ci nostro nostra nostri nostre voi vi vostro vostra loro chi che cosa cos quale
        quali qual quando dove dov come com perché perche quanto quanta quanti quante il i un uno una l d di del
        dello della dell dei degli delle a al allo alla all ai agli alle da dal dallo dalla dall dai in nel nello
        nella nell nei su sul sulla sull con per tra fra senza sopra sotto fino e ed o ma anche né non più meno
        molto già ancora questo questa questi queste quello quella quelli quelle qui qua lì là sono sei è siamo
        siete era erano ero stato stata stati essere ho hai ha abbiamo avete hanno aveva avevo avere c'è ce sta
        sto stai fa fare faccio può posso vuole voglio tutto tutta tutti tutte altro altra altri altre stesso ogni
        qualche poi allora così cosi ciao grazie sì no""",
    "dutch": """
        ik me mij mijn mijne je jij jou jouw u uw hij hem zijn zij ze haar het 't wij we ons onze jullie hun hen
        wie wat welke welk wanneer waar waarom hoe waarheen de een en of maar want dus dat die dit deze daar hier
        er in op aan uit bij tot door voor tegen met na naar zonder sinds over om onder van tussen achter naast te
        ben bent is was waren geweest wezen heb hebt heeft hebben had hadden gehad word wordt worden werd werden
        kan kun kunt kunnen kon konden moet moeten moest zal zult zullen zou zouden wil wilt willen wilde mag
        mogen niet geen ook nog al zeer zo dan toen toch eens ja nee als omdat terwijl elk elke iedere alle alles
        andere iets niets veel meer zich zelf ging gaat ga hoi hallo dank bedankt even""",
    "swedish": """
        jag mig min mitt mina du dig din ditt dina han honom hans hon henne hennes den det dess vi oss vår vårt
        våra ni er ert era de dem deras sig sin sitt sina man vem vad vilken vilket vilka när var vart varför hur
        en ett och eller men att som om för med på i av till från vid under över mellan genom efter innan utan mot
        är var varit vara blir blev bli har hade haft ha kan kunde ska skulle vill ville måste får fick inte ingen
        inget inga också bara redan mycket mer så då nu där här ju väl ja nej denna detta dessa alla allt andra
        något några hej tack""",
    "polish": """
        ja mnie mi mną mój moja moje moich mojego mojej ty ciebie cię ci tobą twój twoja twoje on jego go jemu mu
        nim ona jej ją nią ono my nas nam nami nasz nasza nasze wy was wam wasz oni one ich im nimi się siebie kto
        kogo komu co czego czym jaki jaka jakie który która które kiedy gdzie dokąd skąd dlaczego jak ile i a oraz
        lub albo ale że żeby bo ponieważ jeśli gdy w we na do od z ze za przez przy po pod nad o u dla bez między
        przed jestem jesteś jest jesteśmy są był była było byli być będę będzie mam masz ma mamy mają miał miała
        mieć nie tak też już jeszcze bardzo tylko ten ta to te tego tej tym tych tu tam czy no cześć dzięki""",
    "turkish": """
        ben beni bana benim bende benden sen seni sana senin o onu ona onun biz bizi bize bizim siz sizi size
        sizin onlar onları onların kim kimi kime kimin ne neyi neden niçin niye nasıl nerede nereye nereden hangi
        kaç ne zaman bir ve veya ya da de ile için gibi kadar göre sonra önce ama fakat ancak çünkü eğer ki mi mı
        mu mü bu şu bunu şunu burada orada var yok değil evet hayır çok daha en her hiç bazı bütün tüm hem ise idi
        oldu olan olarak olur şey merhaba selam teşekkürler""",
    "russian": """
        я меня мне мной мною мой моя моё мое мои моего моей моему моим моих мою ты тебя тебе тобой твой твоя твоё
        твое твои твоего твоей твоих он его ему им нём нем она её ее ей ней оно мы нас нам нами наш наша наше наши
        нашего нашей вы вас вам вами ваш ваша ваше ваши вашего они их ими них себя себе собой свой своя своё свое
        свои своего своей своих кто кого кому кем чем что чего чему который которая которое которые какой какая
        какое какие какого какую каком когда где куда откуда почему зачем как сколько чей чья чьё в во на с со к
        ко у о об обо от до из за по под над при про для без через между перед и а но или либо если чтобы потому
        поэтому хотя пока да нет не ни ли же бы ведь вот это этот эта эти этого этой этом эту тот та то те того
        той тех там тут здесь туда был была было были быть буду будет есть уже ещё еще тоже также очень только
        даже так такой такая такие сам сама само самый весь вся всё все всех всем привет спасибо ага ну типа
        напомни скажи помнишь можно""",
    "ukrainian": """
        я мене мені мною мій моя моє мої моєї ти тебе тобі твій твоя твоє твої він його йому вона її їй воно ми
        нас нам наш наша ви вас вам ваш вони їх їм себе собі свій своя хто кого кому що чого чому який яка яке які
        коли де куди звідки навіщо як скільки в у на з із зі до від за по під над при про для без через між перед
        й і та а але або чи якщо щоб тому бо хоча так ні не ж би це цей ця ці того той тут там був була було були
        бути буде є вже ще теж також дуже тільки навіть весь вся все всі привіт дякую""",
    "arabic": """
        أنا انا أنت انت أنتم هو هي هم هن نحن إياه من ما ماذا متى أين اين كيف لماذا كم أي هل الذي التي الذين في على
        إلى الى عن مع بين منذ حتى خلال قبل بعد تحت فوق عند لدى و أو او ثم لكن بل إن ان أن أنه انه لأن إذا اذا لو لا
        لم لن ليس ليست قد لقد كان كانت كانوا كنت يكون تكون هذا هذه هؤلاء ذلك تلك هنا هناك كل بعض غير أيضا ايضا جدا
        فقط كما مثل لي لك له لها لنا لهم لكم بي به بها فيه فيها عليه عليها منه منها شيء نعم مرحبا شكرا يا وين شو
        ليش""",
    "persian": """
        من منو مرا مال تو تورو او اون آن ما شما آنها اونا ایشان خود خودم خودت خودش کی کیه چه چی چیه کدام کدوم کجا
        کجاست چرا چطور چگونه چند چندتا آیا مگه که را رو از به با در تا برای بر بدون بین روی زیر پیش پس و یا اما ولی
        اگر اگه چون زیرا هم نیز دیگر دیگه این همین همان همون آنجا اونجا اینجا است هست هستم هستی هستیم هستید هستند
        بود بودم بودی بودند باشد باشه شد شده شدم می نمی نه آره بله خیلی فقط همه هر هیچ یک یه یکی بعضی کرد کردم کرده
        کنم کنی کنه کند می‌کنم میکنم می‌کنه میکنه داره دارم دارد داری داشت سلام مرسی ممنون اینکه آن‌ها آنچه وقتی""",
    "hindi": """
        मैं मैंने मुझे मुझको मेरा मेरी मेरे तू तुम तुमने तुम्हें तुम्हारा तुम्हारी तुम्हारे आप आपने आपको आपका आपकी आपके वह
        वो उसने उसे उसका उसकी उसके यह ये इसने इसे इसका इसकी इसके हम हमने हमें हमारा हमारी हमारे वे उन्होंने उन्हें उनका उनकी
        उनके कौन किसने किसे किसका क्या कब कहाँ कहां क्यों कैसे कैसा कैसी कितना कितनी कितने किस का की के को से में पर ने तक
        और या लेकिन मगर अगर तो कि जो जब है हैं हूँ हूं हो था थी थे होना हुआ हुई हुए गया गई गए कर करना किया करता करती करते
        रहा रही रहे भी ही नहीं न मत हाँ हां बहुत कुछ सब कोई यहाँ वहाँ अब फिर एक साथ लिए""",
    "greek": """
        εγώ εμένα με μου εσύ εσένα σε σου αυτός αυτή αυτό του της το εμείς εμάς μας εσείς εσάς σας αυτοί τους ποιος
        ποια ποιο τι πότε πού που γιατί πώς πως πόσο πόσα ο η οι τα τον την των ένας μια μία ένα και ή αλλά αν ότι
        να θα δεν μη μην σε στο στη στην στον στα από για προς κατά χωρίς πριν μετά είμαι είσαι είναι είμαστε ήταν
        έχω έχεις έχει έχουν είχε ναι όχι πολύ πιο όλα κάτι εδώ εκεί γεια ευχαριστώ""",
}

_PHRASES = (
    "什么时候 什么地方 为什么 怎么样 有没有 是不是 什么 怎么 怎样 哪里 哪儿 哪个 哪些 哪天 多少 几个 几点 "
    "多久 多大 谁的 我们 你们 他们 她们 它们 咱们 这个 那个 这些 那些 这里 那里 这样 那样 因为 所以 但是 "
    "不过 如果 现在 但 对于 关于 还是 或者 而且 然后 就是 已经 可以 没有 一个 一下 一些 知道 记得 告诉 时候 "
    "いつから どうして どのくらい どんな いつ どこ だれ 誰が なぜ なに 何が 何を どう どれ どの いくつ いくら "
    "ですか ますか でした ました ません です ます から まで より という として について している していた していて "
    "している した して する しました これ それ あれ この その あの ここ そこ わたし あなた だから けど でも"
)
UNSPACED_PHRASES = tuple(_PHRASES.split())
"""Chinese and Japanese function words of several characters, longer ones first."""
CHINESE_WORDS = frozenset("我你您他她它们咱的了吗呢吧啊呀哦嗯是很也就又这那哪谁么跟与及或被")
"""Chinese function words of one character. They separate the words around them."""
