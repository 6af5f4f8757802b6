import { describe, expect, test } from "vitest"
import { says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face, type Visitor } from "../support/server/face.ts"

describe.each(anyDatabase)("an export on $name", ({ create }) => {
  test("ends with its token, and is not mistaken for a complete one", async () => {
    await using face = await Face.open({ url: (await create()).url, model: scripted(always(says("Hello."))) })
    const ada = await face.as("ada")
    for (let said = 0; said < 20; said++) await ada.say(await ada.begin(), "hello")
    const answer = await ada.send("GET", "/api/export")
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = (await reader.read()).value ?? ""
    await revoke(ada, await face.as("ada"))
    for (let next = await reader.read(); !next.done; next = await reader.read()) text += next.value
    expect(text.split("\n").length).toBeLessThan(10)
    expect(text).not.toContain('"kind":"end"')
  })

  test("leaves nothing open after it is read to its end, left in the middle, or only its head is requested", async () => {
    await using face = await Face.open({ url: (await create()).url, model: scripted(always(says("Hello."))) })
    let open = 0
    const register = face.revocation.register.bind(face.revocation)
    face.revocation.register = (...given) => {
      const letGo = register(...given)
      open++
      return () => {
        open--
        letGo()
      }
    }
    const ada = await face.as("ada")
    await ada.say(await ada.begin(), "hello")
    expect((await ada.get("/api/export")).text).toContain('"kind":"end"')
    const reader = (await ada.send("GET", "/api/export")).body!.getReader()
    await reader.read()
    expect(open).toBe(1)
    await reader.cancel()
    await ada.send("HEAD", "/api/export")
    expect(open).toBe(0)
  })
})

async function revoke(whom: Visitor, by: Visitor): Promise<void> {
  const { credential } = (await whom.get("/api/auth/me")).body
  expect((await by.delete(`/api/tokens/${credential.id}`)).status).toBe(204)
}
