import { describe, expect, test } from "vitest"
import { DoubtfulCalls } from "../../../core/engine/gate/doubtful-calls.ts"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import type { ConversationId } from "../../../core/protocol/ids.ts"
import { sweepErased } from "../../../core/server/routes/account/retention.ts"
import { databases } from "../../support/databases.ts"
import { Face } from "../../support/server/face.ts"
import { readingAll, recordStatements } from "./statement-plans.ts"

describe.each(databases)("on $name", ({ create }) => {
  test("no request, and no periodic task of a node, scans all of a table that grows", async () => {
    await using database = await create()
    const model = scripted(calls("create_task", { title: "Buy milk" }), always(says("Done.")))
    await using face = await Face.open({ url: database.url, model })
    const { store, server } = face
    const ada = await face.as("ada")
    const sent = recordStatements(store.engine)
    const id = (await ada.begin()) as ConversationId
    const { body } = await ada.say(id, "milk")
    const proposal = `/api/agent/proposals/${body.proposals[0].id}`
    for (const which of ["", "status=pending", "status=expired&seen=false", "status=in_doubt", `conversationId=${id}`])
      expect((await ada.get(`/api/agent/proposals?${which}`)).status).toBe(200)
    await ada.post(`${proposal}/commit`)
    await face.pawl.runtime.rest(id)
    for (const path of [
      "/api/conversations",
      "/api/conversations?limit=1&cursor=1",
      `/api/conversations/${id}`,
      `/api/conversations/${id}/messages?before=2&limit=1`,
      `/api/conversations/${id}/runs`,
      `/api/conversations/${id}/state?at=2`,
      `/api/runs/${body.run.id}`,
      proposal,
      "/api/agent/audit",
      "/api/usage",
    ])
      expect([path, (await ada.get(path)).status]).toEqual([path, 200])
    // The periodic tasks of a node, which also run at its start.
    store.journal.drop(id)
    await face.pawl.runtime.recover()
    await new DoubtfulCalls(face.pawl.ports).askTargets()
    await store.deliveries.due(Date.now(), 10)
    await store.messageFiles.sweep()
    await store.journal.recorded([id])
    expect((await ada.ask("DELETE", `/api/conversations/${id}`)).status).toBe(204)
    expect((await ada.ask("DELETE", "/api/me")).status).toBe(204)
    await sweepErased({ retention: store.retention, databases: server.databases })
    expect(await readingAll(store.engine, database.url, sent)).toEqual([])
  })
})
