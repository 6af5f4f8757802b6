import { expect, test } from "vitest"
import { Tokenizer } from "./tokenizer.ts"

const pieces = ["[PAD]", "un", "##afford", "##able", "cafe", "!", "東", "京", "a", "##b"]
const file = JSON.stringify({ model: { vocab: Object.fromEntries(pieces.map((piece, i) => [piece, i])) } })
const tokensOf = (text: string) => new Tokenizer(file, 12).tokensOf(text).slice(1, -1)

test.each([
  ["a word is its longest pieces", "unaffordable", [1, 2, 3]],
  ["capitals and accents are those of the plain letter", "Café CAFE\u0301", [4, 4]],
  ["a sign is a word of its own", "cafe!!", [4, 5, 5]],
  ["so is a Chinese character", "東京", [6, 7]],
  ["a word that has no piece in the list is unknown as a whole", "unx cafe", [100, 4]],
  ["one of more than a hundred letters too", `a${"b".repeat(100)}`, [100]],
  ["what is no letter and no space is not there", "ca\u0000f\u200be\u0301\ufffd", [4]],
  ["any kind of space parts words", "a\u00a0a\ta\na", [8, 8, 8, 8]],
  ["a name of the model's own signs is that sign", "a [SEP] a", [8, 102, 8]],
  ["what is too long is cut off", "a ".repeat(50), Array(10).fill(8)],
  ["nothing is nothing", " \n", []],
])("%s", (_, text, tokens) => expect(tokensOf(text)).toEqual(tokens))
