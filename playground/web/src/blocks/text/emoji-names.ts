const FACES = `
grinning 😀 smiley 😃 smile 😄 grin 😁 laughing 😆 satisfied 😆 sweat_smile 😅 rolling_on_the_floor_laughing 🤣 joy 😂
slightly_smiling_face 🙂 upside_down_face 🙃 wink 😉 blush 😊 innocent 😇 heart_eyes 😍 star-struck 🤩 kissing_heart 😘
yum 😋 stuck_out_tongue 😛 stuck_out_tongue_winking_eye 😜 zany_face 🤪 money_mouth_face 🤑 hugging_face 🤗 shushing_face 🤫
thinking_face 🤔 zipper_mouth_face 🤐 face_with_raised_eyebrow 🤨 neutral_face 😐 expressionless 😑 no_mouth 😶 smirk 😏
unamused 😒 face_with_rolling_eyes 🙄 grimacing 😬 relieved 😌 pensive 😔 sleepy 😪 sleeping 😴 mask 😷 nauseated_face 🤢
sneezing_face 🤧 dizzy_face 😵 exploding_head 🤯 face_with_cowboy_hat 🤠 partying_face 🥳 sunglasses 😎 nerd_face 🤓
confused 😕 worried 😟 slightly_frowning_face 🙁 white_frowning_face ☹️ open_mouth 😮 hushed 😯 astonished 😲 flushed 😳
pleading_face 🥺 frowning 😦 anguished 😧 fearful 😨 cold_sweat 😰 cry 😢 sob 😭 scream 😱 confounded 😖 persevere 😣
disappointed 😞 sweat 😓 weary 😩 tired_face 😫 yawning_face 🥱 triumph 😤 rage 😡 angry 😠 smiling_imp 😈 skull 💀
hankey 💩 poop 💩 clown_face 🤡 ghost 👻 alien 👽 robot_face 🤖 smile_cat 😸 see_no_evil 🙈 hear_no_evil 🙉 speak_no_evil 🙊`;

const PEOPLE = `
wave 👋 raised_hand ✋ hand ✋ ok_hand 👌 v ✌️ crossed_fingers 🤞 point_left 👈 point_right 👉 point_up_2 👆 point_down 👇
point_up ☝️ +1 👍 thumbsup 👍 -1 👎 thumbsdown 👎 fist ✊ facepunch 👊 punch 👊 clap 👏 raised_hands 🙌 open_hands 👐
handshake 🤝 pray 🙏 writing_hand ✍️ muscle 💪 eyes 👀 brain 🧠 baby 👶 man 👨 woman 👩 technologist 🧑‍💻 detective 🕵️
cop 👮 construction_worker 👷 superhero 🦸 mage 🧙 shrug 🤷 facepalm 🤦 bow 🙇 raising_hand 🙋 walking 🚶 runner 🏃 dancer 💃
busts_in_silhouette 👥 bust_in_silhouette 👤 speaking_head_in_silhouette 🗣️`;

const SIGNS = `
heart ❤️ orange_heart 🧡 yellow_heart 💛 green_heart 💚 blue_heart 💙 purple_heart 💜 black_heart 🖤 broken_heart 💔
sparkling_heart 💖 two_hearts 💕 100 💯 anger 💢 boom 💥 collision 💥 dizzy 💫 sweat_drops 💦 dash 💨 zzz 💤
speech_balloon 💬 thought_balloon 💭 white_check_mark ✅ heavy_check_mark ✔️ ballot_box_with_check ☑️ x ❌
negative_squared_cross_mark ❎ heavy_multiplication_x ✖️ heavy_plus_sign ➕ heavy_minus_sign ➖ question ❓ grey_question ❔
exclamation ❗ heavy_exclamation_mark ❗ grey_exclamation ❕ bangbang ‼️ interrobang ⁉️ warning ⚠️ no_entry ⛔
no_entry_sign 🚫 octagonal_sign 🛑 construction 🚧 rotating_light 🚨 radioactive_sign ☢️ recycle ♻️ sos 🆘 new 🆕 free 🆓
up 🆙 ok 🆗 cool 🆒 information_source ℹ️ red_circle 🔴 large_orange_circle 🟠 large_yellow_circle 🟡 large_green_circle 🟢
large_blue_circle 🔵 large_purple_circle 🟣 white_circle ⚪ black_circle ⚫ large_red_square 🟥 large_green_square 🟩
large_orange_square 🟧 large_yellow_square 🟨 large_blue_square 🟦 white_large_square ⬜ black_large_square ⬛
small_blue_diamond 🔹 small_orange_diamond 🔸 arrow_up ⬆️ arrow_down ⬇️ arrow_left ⬅️ arrow_right ➡️ arrow_upper_right ↗️
arrow_lower_right ↘️ left_right_arrow ↔️ arrows_counterclockwise 🔄 repeat 🔁 fast_forward ⏩ rewind ⏪ arrow_forward ▶️
double_vertical_bar ⏸️ black_square_for_stop ⏹️ infinity ♾️ copyright ©️ registered ®️ tm ™️ zero 0️⃣ one 1️⃣ two 2️⃣ three 3️⃣
four 4️⃣ five 5️⃣ six 6️⃣ seven 7️⃣ eight 8️⃣ nine 9️⃣ keycap_ten 🔟 hash #️⃣ checkered_flag 🏁 triangular_flag_on_post 🚩
rainbow-flag 🏳️‍🌈`;

const THINGS = `
tada 🎉 confetti_ball 🎊 balloon 🎈 gift 🎁 trophy 🏆 medal 🏅 first_place_medal 🥇 second_place_medal 🥈 third_place_medal 🥉
dart 🎯 game_die 🎲 art 🎨 musical_note 🎵 microphone 🎤 headphones 🎧 movie_camera 🎥 camera 📷 tv 📺 computer 💻
desktop_computer 🖥️ keyboard ⌨️ printer 🖨️ iphone 📱 phone ☎️ telephone_receiver 📞 battery 🔋 electric_plug 🔌 bulb 💡
flashlight 🔦 candle 🕯️ moneybag 💰 dollar 💵 euro 💶 credit_card 💳 money_with_wings 💸 receipt 🧾 gem 💎 scales ⚖️
wrench 🔧 hammer 🔨 hammer_and_wrench 🛠️ screwdriver 🪛 gear ⚙️ nut_and_bolt 🔩 link 🔗 chains ⛓️ toolbox 🧰 magnet 🧲
test_tube 🧪 microscope 🔬 telescope 🔭 satellite_antenna 📡 syringe 💉 pill 💊 door 🚪 broom 🧹 shopping_trolley 🛒 bell 🔔
no_bell 🔕 loudspeaker 📢 mega 📣 email 📧 envelope ✉️ incoming_envelope 📨 inbox_tray 📥 outbox_tray 📤 package 📦
mailbox 📫 pencil 📝 memo 📝 pencil2 ✏️ lower_left_fountain_pen 🖋️ paperclip 📎 pushpin 📌 round_pushpin 📍 scissors ✂️
file_folder 📁 open_file_folder 📂 card_index_dividers 🗂️ date 📅 calendar 📆 spiral_calendar_pad 🗓️ clipboard 📋
bar_chart 📊 chart_with_upwards_trend 📈 chart_with_downwards_trend 📉 page_facing_up 📄 page_with_curl 📃 bookmark_tabs 📑
newspaper 📰 notebook 📓 books 📚 book 📖 open_book 📖 label 🏷️ lock 🔒 unlock 🔓 lock_with_ink_pen 🔏
closed_lock_with_key 🔐 key 🔑 old_key 🗝️ shield 🛡️ mag 🔍 mag_right 🔎 hourglass ⌛ hourglass_flowing_sand ⏳ watch ⌚
alarm_clock ⏰ stopwatch ⏱️ timer_clock ⏲️ clock1 🕐 clock3 🕒 clock6 🕕 clock9 🕘 clock12 🕛 wastebasket 🗑️
ballot_box_with_ballot 🗳️ crystal_ball 🔮 jigsaw 🧩 teddy_bear 🧸 ladder 🪜 fire_extinguisher 🧯 bomb 💣 ship 🚢 rocket 🚀
airplane ✈️ helicopter 🚁 car 🚗 truck 🚚 ambulance 🚑 fire_engine 🚒 police_car 🚓 bike 🚲 traffic_light 🚦
vertical_traffic_light 🚦 anchor ⚓ fuelpump ⛽ house 🏠 office 🏢 hospital 🏥 bank 🏦 factory 🏭 classical_building 🏛️
building_construction 🏗️ world_map 🗺️ moyai 🗿 soccer ⚽ basketball 🏀 video_game 🎮`;

const NATURE = `
dog 🐶 cat 🐱 mouse 🐭 rabbit 🐰 fox_face 🦊 bear 🐻 panda_face 🐼 tiger 🐯 lion_face 🦁 cow 🐮 pig 🐷 frog 🐸 monkey_face 🐵
monkey 🐒 chicken 🐔 penguin 🐧 bird 🐦 eagle 🦅 owl 🦉 wolf 🐺 horse 🐴 unicorn_face 🦄 bee 🐝 bug 🐛 butterfly 🦋 snail 🐌
ant 🐜 spider 🕷️ turtle 🐢 snake 🐍 octopus 🐙 crab 🦀 fish 🐟 dolphin 🐬 whale 🐳 shark 🦈 elephant 🐘 sloth 🦥 otter 🦦
parrot 🦜 bouquet 💐 cherry_blossom 🌸 rose 🌹 sunflower 🌻 seedling 🌱 evergreen_tree 🌲 deciduous_tree 🌳 palm_tree 🌴
cactus 🌵 herb 🌿 four_leaf_clover 🍀 fallen_leaf 🍂 mushroom 🍄 earth_africa 🌍 earth_americas 🌎 earth_asia 🌏
globe_with_meridians 🌐 full_moon 🌕 crescent_moon 🌙 sunny ☀️ star ⭐ star2 🌟 sparkles ✨ zap ⚡ fire 🔥 rainbow 🌈
cloud ☁️ rain_cloud 🌧️ snowflake ❄️ snowman ⛄ ocean 🌊 droplet 💧 umbrella ☔ tornado 🌪️ volcano 🌋 mountain ⛰️
apple 🍎 lemon 🍋 banana 🍌 watermelon 🍉 grapes 🍇 strawberry 🍓 avocado 🥑 hot_pepper 🌶️ corn 🌽 bread 🍞 cheese_wedge 🧀
egg 🥚 hamburger 🍔 fries 🍟 pizza 🍕 taco 🌮 popcorn 🍿 doughnut 🍩 cookie 🍪 birthday 🎂 cake 🍰 chocolate_bar 🍫 candy 🍬
coffee ☕ tea 🍵 beer 🍺 beers 🍻 wine_glass 🍷 champagne 🍾 cocktail 🍸 fork_and_knife 🍴`;

const table: ReadonlyMap<string, string> = new Map(
  [FACES, PEOPLE, SIGNS, THINGS, NATURE].flatMap((list) =>
    [...list.matchAll(/(\S+) (\S+)/g)].map((pair): [string, string] => [pair[1] ?? '', pair[2] ?? '']),
  ),
);

/** Returns the emoji with this Slack name; undefined for an unknown one. */
export function emojiOf(name: string): string | undefined {
  return table.get(name);
}

/** True for a known emoji name. */
export function isKnownEmoji(name: string): boolean {
  return table.has(name);
}
