import { describe, expect, test } from "vitest"
import { listenOn } from "../../core/compose/start-server.ts"
import { always, says, scripted } from "../../core/testing.ts"
import { codeOf } from "../support/server/browser.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"
import { openServer } from "../support/server/socket.ts"

describe.each(anyDatabase)("while a server shuts down on $name", (database) => {
  test('a message is answered with "draining" and when to retry, not with a failure of the store', async () => {
    await using face = await Face.open({ url: (await database.create()).url, model: scripted(always(says("ok"))) })
    const ada = await face.as("ada")
    const id = await ada.begin()
    await face.pawl.runtime.close()
    for (const path of ["messages", "resume", "cancel"]) {
      const answer = await ada.post(
        `/api/conversations/${id}/${path}`,
        path === "messages" ? { text: "hello" } : undefined,
      )
      if (answer.status < 500) continue // there is nothing to resume or cancel
      expect([path, ...codeOf(answer), answer.headers.get("retry-after")]).toEqual([path, 503, "draining", "2"])
    }
    expect(codeOf(await ada.say(id, "hello"))).toEqual([503, "draining"])
  })

  test("every answer closes its connection, so that no client sends a request on a connection that is about to close", async () => {
    await using face = await Face.open({ url: (await database.create()).url, model: scripted() })
    const listening = await listenOn(face.server, 0)
    const connection = async () => (await fetch(`${listening.url}/healthz`)).headers.get("connection")
    expect(await connection()).toBe("keep-alive")
    face.server.drain()
    expect(await connection()).toBe("close")
    await listening.close(0)
  })

  test("a message by a socket gets the same final", async () => {
    await using server = await openServer({ database, model: scripted(always(says("ok"))) })
    const ada = await server.visitor("ada")
    const id = await ada.begin()
    using peer = await server.socket("ada")
    await server.face.pawl.runtime.close()
    peer.send({ type: "chat_request", message: "hello", context: { conversationId: id as never } })
    expect(await peer.next("error")).toMatchObject({ code: "draining" })
    await peer.next("final")
  })
})
