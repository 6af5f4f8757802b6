import { beginsWith, endsWith, part, type RequestText } from "./words.ts"

const BEFORE = [
  ...["please", "pls", "plz", "kindly", "hi", "hello", "hey", "hallo", "hi there", "hey there", "hi pawl", "hey pawl"],
  ...[
    "pawl",
    "yo",
    "good morning",
    "good evening",
    "ok",
    "okay",
    "so",
    "well",
    "now",
    "then",
    "great",
    "perfect",
    "thanks",
  ],
  ...["can you", "could you", "would you", "will you", "can u", "could u", "can i", "could i", "may i", "can we"],
  ...["i want you to", "i would like you to", "i'd like you to", "i'd like to", "i would like to", "i want to"],
  ...["i need you to", "let's", "lets", "just", "quickly", "also", "and", "and also", "and then", "and please"],
  ...["do you mind to", "would you mind to", "help me to", "help me", "you can", "yes", "yeah", "yep", "actually"],
]
const AFTER = [
  ...["please", "pls", "plz", "thanks", "thank you", "thx", "for me", "ok", "okay", "now", "then", "too", "as well"],
  ...["right now", "would you", "will you", "could you", "can you", "if you can", "quickly", "many thanks"],
]

/** What is wanted, without the words that are only kind. */
export function withoutKindWords(phrase: RequestText): RequestText {
  let rest = phrase
  for (let taken = -1; taken !== 0;) {
    taken = beginsWith(rest, BEFORE)
    if (taken < rest.words.length) rest = part(rest, taken)
    else taken = 0
  }
  for (let taken = -1; taken !== 0;) {
    taken = endsWith(rest, AFTER)
    if (taken < rest.words.length) rest = part(rest, 0, rest.words.length - taken)
    else taken = 0
  }
  return rest
}
