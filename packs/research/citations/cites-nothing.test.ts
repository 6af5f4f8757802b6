import { describe, expect, test } from "vitest"
import type { Source } from "../../../core/pack.ts"
import { countWork } from "../../../test/support/worked.ts"
import { citesNothing } from "./cites-nothing.ts"

const passage =
  "Manuka honey is not effective in deep wounds, and it is cheap to make. In a trial of 120 patients the bandages were changed daily, and infections were treated with antibiotics. 蜂蜜は深い傷に対しては効果がないのである。患者の包帯は毎日交換され、感染症は抗生物質で治療された。"
const found: Source[] = [{ id: "psg_1", title: "Honey and deep wounds", passage }]
const asked = "Does manuka honey help with deep wounds?"
const told = (text: string) => citesNothing(text, found, asked)

describe("an answer that cites none of its passages is reported", () => {
  test.each([
    [
      "from the passages",
      "Manuka honey does not help. In the trial the patients had their bandages changed daily, and infections were treated with antibiotics, so that the honey was hardly needed.",
    ],
    [
      "from memory",
      "Honey helps with deep wounds because it draws water out of them. Patients in every trial were healed faster, had fewer infections, and no longer needed any antibiotics at all.",
    ],
    [
      "as a list",
      "What is known:\n\n- The trial had patients with deep wounds.\n- Their bandages were changed daily.\n- Infections were treated with antibiotics, and the honey itself was cheap to make.",
    ],
    [
      "with numbers of its own references",
      "In the trial the patients had their bandages changed daily (Smith, 2020), infections were treated with antibiotics (Jones, 2019), and the honey was of no use to anybody (Lee, 2021).",
    ],
    [
      "with a polite question before the end",
      "What do we know? In the trial the patients had their bandages changed daily, and infections were treated with antibiotics. So the honey did nothing at all for those deep wounds.",
    ],
    [
      "where words have no spaces",
      "蜂蜜は役に立たない。患者の包帯は毎日交換され、感染症は抗生物質で治療された。したがって、蜂蜜はほとんど必要ではなかったと言えるだろう。それは安価であるが、深い傷には使うべきではない。",
    ],
  ])("%s", (_, text) => {
    expect(told(text)).toBe(true)
  })
})

describe("others are not", () => {
  test.each([
    ["a greeting", "Hello! I can search your documents, papers and the web. Ask me anything about honey and wounds."],
    ["a short answer", "No, it is not effective in deep wounds."],
    [
      "one that nothing was found for",
      "I could not find anything about that in your documents. The passages are about patients whose bandages were changed daily, and about infections and antibiotics, not about burns.",
    ],
    [
      "not enough",
      "There is not enough evidence in what was found. The trial had patients whose bandages were changed daily, and infections that were treated with antibiotics, and it says no more.",
    ],
    [
      "one that says so in the end",
      "The trial had patients whose bandages were changed daily, and infections that were treated with antibiotics. Beyond that, your documents do not say anything about this question.",
    ],
    [
      "in German",
      "Dazu habe ich in Ihren Dokumenten nichts gefunden. Es geht dort um patients, bandages, infections und antibiotics, und um eine Studie, die damit leider gar nichts zu tun hat.",
    ],
    [
      "in French",
      "Je n'ai rien trouvé à ce sujet dans vos documents. Il y est question de patients, de bandages, d'infections, d'antibiotics et d'un trial, mais de brûlures il est dit très peu.",
    ],
    [
      "in Spanish",
      "No he encontrado nada sobre eso en sus documentos. Hablan de patients, bandages, infections, antibiotics y de un trial, pero de quemaduras se dice muy poco en todos ellos.",
    ],
    [
      "a question back",
      "Before I go on: the trial had patients whose bandages were changed daily, and others with infections that were treated with antibiotics. Which of the two groups do you want to know about?",
    ],
    [
      "a refusal",
      "I'm sorry, but I can't help with that. Patients with infections need antibiotics and bandages that are changed daily by somebody who knows how to, so please do ask a doctor instead.",
    ],
    [
      "about something else",
      "I have put the list into your notes under the name that you gave me, and I will remind you of it on Monday morning. You can move or delete it there whenever you like to.",
    ],
    ["only code", `Here it is:\n\n\`\`\`\n${"patients bandages infections antibiotics treated ".repeat(10)}\n\`\`\``],
    [
      "what repeats the question",
      "You ask whether manuka honey does help with deep wounds. I will look into whether manuka honey does help with deep wounds, and tell you as soon as I know whether it does help or not.",
    ],
  ])("%s", (_, text) => {
    expect(told(text)).toBe(false)
  })

  test("where nothing was found", () => {
    const text = "In the trial the patients had their bandages changed daily, and infections were treated. ".repeat(3)
    expect(citesNothing(text, [], asked)).toBe(false)
    expect(told(text)).toBe(true)
  })
})

test.each([
  ["words", "bandages ".repeat(100_000)],
  ["signs", "蜂".repeat(1_000_000)],
  ["spaces", " ".repeat(1_000_000)],
])("a long answer of nothing but %s is read in time", (_, text) => {
  const worked = countWork()
  told(text)
  expect(worked()).toBeLessThan(10_000)
})
