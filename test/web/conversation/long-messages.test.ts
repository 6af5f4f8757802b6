import { expect, test } from "vitest"
import { says } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { Site } from "../browser/site.ts"

const words = (what: string) => `${`${what} and so on. `.repeat(9000)}THE END OF ${what}`
const [QUESTION, ANSWER] = [words("the question"), words("the answer")]

test("a long message shows its beginning, loads the rest on demand, and is edited in full", async () => {
  await using site = await Site.open({ model: scripted(always(says(ANSWER))) })
  const ada = await site.ada()
  const id = await ada.begin()
  await ada.say(id, QUESTION)
  const { page, faults } = await site.visit({}, `/c/${id}`)
  const [said, reply] = [page.getByRole("article", { name: "You" }), page.getByRole("article", { name: "Pawl" })]
  await reply.getByRole("button", { name: "Show all" }).waitFor()
  expect(await reply.innerText()).toContain(
    `Showing the beginning of ${ANSWER.length.toLocaleString("en")} characters.`,
  )
  expect(await reply.innerText()).not.toContain("THE END OF")

  await reply.getByRole("button", { name: "Show all" }).click()
  await reply.getByText("THE END OF the answer").waitFor()
  expect(await reply.getByRole("button", { name: "Show all" }).count()).toBe(0)
  expect(await said.innerText()).not.toContain("THE END OF")

  await said.hover()
  await said.getByRole("button", { name: "Edit and resend" }).click()
  const editor = page.getByRole("textbox", { name: "Your message" })
  await editor.waitFor()
  expect(await editor.inputValue()).toBe(QUESTION)
  expect(faults).toEqual([])
})
