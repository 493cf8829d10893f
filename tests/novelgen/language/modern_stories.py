"""Two short stories of our own, as people write them today, with who is in them."""

MODERN_CHINESE = [
    """何小满把伞收起来，站在旧厂的门口。雨从屋檐上一线一线地落。苏晚比她早到，正低头看手机。
“那边有人。”苏晚说。
何小满顺着她的目光看过去，仓库的灯亮着。胖子蹲在台阶上抽烟，看见她们，赶紧把烟掐了。
“三爷在里头等你们。”胖子说，“左思雨也来了。”
苏晚把手机放进口袋，没说话。何小满知道她在想什么。去年冬天，曾志远就是从这扇门里走出去的，再没有回来。
小陈从车上跳下来，把钥匙抛给胖子。小陈今天换了件干净衬衫，头发还湿着。
“路上堵。”小陈说，“莫青禾的车停在桥那头，我绕了一圈。”
苏晚皱了皱眉。莫青禾不该知道这个地方。
三爷坐在一张旧木桌后面，桌上摊着账本。左思雨靠窗站着，手里转着一支铅笔。
“坐。”三爷说。何小满没有坐。""",
    """左思雨先开口：“账上少了四十万，经手的人是曾志远。”
何小满抬起头。苏晚的脸白了一下。
“曾志远不会拿。”苏晚说，“他连自己的工资都不领。”
三爷合上账本，看着窗外。胖子在门口咳嗽了一声。
“那你说，钱去哪儿了？”左思雨问。
苏晚答不上来。何小满走到桌边，翻开最后一页，指着一行小字。莫青禾管了六年账，那一行是他签的。
小陈凑过来看，倒吸一口气。小陈认得莫青禾的字。
向晚晴推门进来的时候，屋里没有一个人说话。向晚晴把湿外套搭在椅背上，看了一圈，说：“怎么都站着？”
“何小满找到了。”三爷说。
向晚晴走过去，看了一眼那行字，又看了一眼左思雨。左思雨把铅笔放下了。""",
    """晚上，何小满一个人走回宿舍。苏晚追上来，跟她并排走了一段。
“你早就知道是莫青禾？”苏晚问。
何小满摇头。路灯下，那英杰的摩托车停在巷口，车灯一明一暗。那英杰摘下头盔，冲她们招手。
“莫青禾跑了。”那英杰说，“胖子和小陈追出去了。”
苏晚愣住了。何小满把伞塞给她，跨上摩托车的后座。
那英杰没有多问，拧了油门。桥头的风很大，何小满看见莫青禾的车斜在栏杆边上，车门开着，人不见了。
胖子喘着气跑过来，衣服上全是泥。胖子说：“他跳下去了。曾志远当年也是从这儿跳的。”
三爷的电话打进来。三爷只说了一句话：“别下水，等天亮。”
“找到了吗？”向晚晴问。向晚晴和曾志远是同一年进厂的。
苏晚站在雨里，没有打伞。左思雨从后面走上来，把外套披在她身上。
“曾志远没有拿钱。”左思雨说，“我查过了，那四十万是给苏晚母亲看病的，三爷批的条子。”
何小满听见李明在桥下喊。李明打着手电，照见水面上漂着一只鞋。
“李明！别动！”何小满喊。李明站住了。""",
]

CHINESE_PEOPLE = {"何小满", "苏晚", "左思雨", "曾志远", "莫青禾", "向晚晴", "那英杰", "胖子", "三爷", "小陈", "李明"}
"""Surnames that mostly are other words, names without a verb of speech, and who is called so without a name."""

MODERN_ENGLISH = [
    """The quay at Carrow was empty when Maggie Trevose came down to it. The tide had left the boats on their sides.
They had found Will Pascoe in the spring, under the slip, with his boots still laced.

"You are early," said Annie Pascoe. She had a basket on her arm and did not put it down.

Maggie looked at the water. "I could not sleep," she said. "Ben was up again."

Ben Trevose had not fished since the funeral. He sat in the kitchen with the lamp lit and counted the nets.

"He should come to the chapel," Annie said.

Maggie did not answer. Annie Pascoe shifted the basket and went on up the steps.""",
    """Ben heard them before he saw them. Maggie came in first, her hair wet, and behind her stood Constable Hale.

"Mr. Trevose," said Hale, "I want to ask you about the night that Will Pascoe went out."

Ben put the net down. "I told the coroner what I know."

"You told him that you slept," Hale said. He took his cap off. Maggie went to the stove and stood there with her back
to them both.

"Annie saw a lamp on the slip," said Hale. "She says it was yours."

Ben laughed, and it was not a good sound. "Annie Pascoe sees lamps everywhere."
""",
    """On Sunday the whole of Carrow walked to the chapel. Annie sat alone. Nobody spoke of Will Pascoe, and his name
stood on the board by the door among the other drowned.

Hale waited by the wall. When Maggie came out he fell in beside her.

"It was my lamp," Maggie said. "Ben never left his bed."

Hale stopped. The gulls went over, and Annie came out of the porch and looked at them both.
""",
]

ENGLISH_PEOPLE = {"Maggie Trevose", "Ben", "Annie Pascoe", "Constable Hale", "Will Pascoe"}
"""The last one is drowned before the story begins, and named three times."""
