"""Common English given names: whose they are, and by which short forms people are called."""

from __future__ import annotations

_MEN = """
    alan albert:al,bert,bertie alexander:alec,alex,sandy alfred:alf,fred,freddy algernon:algy ambrose
    andrew:andy,drew anthony:tony archibald:archie,archy arthur:art augustus:gus,gussie barnabas:barney
    bartholomew:bart basil benjamin:ben,benny,benjy bernard:bernie cecil cedric charles:charlie,charley,chas,chuck
    christopher:chris,kit,topher clarence clement cuthbert:bertie cyril daniel:dan,danny david:dave,davy dennis
    donald:don douglas:doug edgar edmund:ned,ed,ted edward:ed,eddie,ned,ted,teddy,neddy edwin:ned,eddie ernest:ernie
    eugene:gene ferdinand francis:frank,franky,fran frederick:fred,freddy,freddie,fritz geoffrey:geoff,jeff
    george:georgie gerald:gerry,jerry gilbert:gil,bert godfrey graham gregory:greg guy harold:hal,harry
    henry:harry,hal,hank herbert:bert,bertie horace hubert:bert hugh:hughie hugo humphrey isaac:ike,zac ivan
    jacob:jake,jack james:jim,jimmy,jem,jemmy,jamie jasper jeremiah:jerry jerome:jerry john:jack,johnny,johnnie,jock
    jonathan:jon,jonny joseph:joe,joey,jo joshua:josh julian julius kenneth:ken laurence:larry,laurie
    lawrence:larry,laurie leonard:len,lenny,leo leopold:leo lewis:lew louis:lou,louie luke mark martin:marty
    matthew:matt,mat maurice michael:mike,mick,micky miles morris mortimer moses nathaniel:nat,nathan,nate neil
    nicholas:nick,nicky nigel noah noel oliver:noll,nolly,ollie oscar oswald owen patrick:pat,paddy,patsy paul
    percival:percy peregrine:perry peter:pete philip:phil,pip phillip:phil ralph:rafe randolph:randy raymond:ray
    reginald:reggie,rex,reg richard:dick,dickie,rick,rich,dickon robert:bob,bobby,rob,robin,robbie,bertie
    roderick:rod,roddy roger:hodge roland:rollo,rolly ronald:ron ronnie rupert samuel:sam,sammy sebastian seth
    sidney:sid simon:sim stanley:stan stephen:steve,stevie steven:steve sydney:syd terence:terry theobald
    theodore:ted,teddy,theo thomas:tom,tommy,thom timothy:tim tobias:toby tristram ulysses valentine:val victor:vic
    vincent:vin,vince walter:wat,wally,walt wilfred:wilf,fred william:will,bill,billy,willie,willy,liam
"""

_WOMEN = """
    abigail:abby,nabby ada adelaide:addie adeline:addie agatha:aggie agnes:aggie,nessie alexandra:alex,sandra
    alice:allie,elsie amanda:mandy amelia:amy,emmy,millie amy anastasia:stacy,nastasia angela:angie angelina:angie
    ann:annie,nan anna:annie,nan anne:annie,nan annabella:bella antonia:toni arabella:bella augusta:gussie
    barbara:babs,barbie beatrice:bea,trixie blanche bridget:biddy,bridie caroline:carrie,caro,lina
    catherine:cathy,kate,kitty,katie,kit,cath katherine:kate,kitty,katie,kathy,kit
    katharine:kate,kitty,katie,kathy,kit cassandra:cass,cassie cecilia:cissy,cecily celia
    charlotte:lottie,lotty,charley christina:tina,chrissie clara:clare claire clarissa:clara constance:connie
    cordelia:delia cynthia:cindy daisy deborah:debby diana:di,die dinah dora dorothea:dolly,dora,dot,thea
    dorothy:dolly,dora,dot,dotty edith:edie,ede eleanor:nell,nelly,nellie,nora,ella elinor:nell,nelly,nora
    eliza:lizzie
    elizabeth:eliza,lizzy,lizzie,liza,liz,beth,betsy,betsey,bet,betty,bessie,bessy,bess,libby,elsie,lisbeth ella
    ellen:nell,nelly,nellie,ellie elsie emily:em,emmy,emmie,millie emma:em,emmy esmeralda:esme esther:hetty,essie
    ethel eugenia:genie eunice euphemia:effie,phemie eva:evie eve:evie evelina:evie,lina evelyn:evie,eve fanny
    felicia:fliss flora:florrie florence:flo,florrie,flossie frances:fanny,fran,franny,frankie gabrielle:gaby
    georgiana:georgy,georgie georgina:georgie,georgy geraldine gertrude:gertie,trudy,gerty gladys grace:gracie
    gwendolen:gwen gwendolyn:gwen hannah:annah harriet:hatty,hattie,harry,hetty helen:nell,nelly,nellie,lena
    helena:nell,lena henrietta:hetty,etta hester:hetty,essy hilda ida imogen irene:rene irma
    isabel:bella,belle,izzy,tibby isabella:bella,belle,izzy ivy jane:janey,jenny,jennie,janie janet:jenny,jessie
    jemima:mima jennifer:jen,jenny jessica:jess,jessie joan:joanie,joanna josephine:josie,jo,josy joyce
    judith:judy,judie julia:julie,jule juliana:julie juliet laura:laurie,lolly leah leonora:nora letitia:letty,tish
    lilian:lily,lil,lilly lillian:lily,lil lily:lil louisa:lou,lulu,louie louise:lou,lulu lucinda:cindy
    lucy:lucia,lu lydia:lyddy mabel:mab,may madeleine:maddy,madge
    margaret:maggie,madge,meg,peggy,peg,daisy,greta,margery,rita,maggy,marjory maria:ria,mimi marian:molly marianne
    marjorie:madge martha:patty,matty,mattie mary:molly,polly,mamie,mally matilda:tilly,tillie,matty,maud
    maud:maudie may mildred:millie,milly millicent:millie,milly minerva:minnie miranda:mira miriam:mim mollie muriel
    myrtle nancy:nance,nan natalie:nat nora olive olivia:livy,liv ophelia pamela:pam patience penelope:pen,penny
    philippa:pip,pippa phoebe phyllis:phyl polly polina priscilla:prissy,cilla prudence:prue rachel:ray
    rebecca:becky,becca rosalind:ros rosamond:rosy rosamund rose:rosie,rosy rosemary:rosie ruby ruth ruthie sally
    samantha:sam sarah:sally,sadie,sal sara:sally,sadie selina:lina sibyl:sib sophia:sophy,sophie sophie:sophy
    stella susan:sue,susie,suky,suzy susanna:sue,susie,sukey sybil:syb sylvia:syl theodora:dora,thea
    theresa:tess,terry,tessa teresa:tess,terry ursula valeria:val vera veronica:ronnie victoria:vicky,vic viola
    violet:vi virginia:ginny,ginnie vivian:viv wilhelmina:mina,minnie,billie winifred:winnie,freda zoe
"""


def _split(table: str) -> dict[str, tuple[str, ...]]:
    entries = (entry.partition(":") for entry in table.split())
    return {name: tuple(filter(None, short.split(","))) for name, _, short in entries}


_SHORT_FORMS = {**_split(_MEN), **_split(_WOMEN)}
MALE_NAMES = frozenset(_split(_MEN)) | {short for each in _split(_MEN).values() for short in each}
FEMALE_NAMES = frozenset(_split(_WOMEN)) | {short for each in _split(_WOMEN).values() for short in each}

_FORMAL: dict[str, tuple[str, ...]] = {}
for _name, _shorts in _SHORT_FORMS.items():
    for _short in _shorts:
        _FORMAL[_short] = (*_FORMAL.get(_short, ()), _name)


def formal_names(name: str) -> tuple[str, ...]:
    """Return the full given names of which this may be a short form."""
    return _FORMAL.get(name, ())
