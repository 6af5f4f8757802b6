import { rmSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import type { UserTurn } from "../../core/engine/model.ts"
import { listenOn, startServer } from "../../core/compose/start-server.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { says } from "../../core/models/scripted/script.ts"
import { anyDatabase } from "../support/databases.ts"
import { LARGE, namesIn, newFolder } from "../support/message-files/files-world.ts"
import { Face } from "../support/server/face.ts"

describe.each(anyDatabase)("on $name", ({ create }) => {
  test("if a file's bytes are lost, its user and the model get an error, and the conversation continues", async () => {
    await using database = await create()
    const filesFolder = newFolder()
    const model = scripted(says("I see."), says("It is gone."))
    await using face = await Face.open({ url: database.url, model, filesFolder })
    const ada = await face.as("ada")
    const headers = { "content-type": "text/plain", "x-file-name": "long.txt" }
    const { body: file } = await ada.post("/api/files", Buffer.alloc(LARGE, "word "), headers)
    const [name = ""] = namesIn(filesFolder)
    const whole = await ada.send("GET", `/api/files/${file.id}`)
    expect([whole.status, (await whole.arrayBuffer()).byteLength]).toEqual([200, LARGE])
    const head = await ada.send("HEAD", `/api/files/${file.id}`)
    expect([head.status, head.headers.get("content-length")]).toEqual([200, String(LARGE)])
    const id = await ada.begin()
    await ada.say(id, "Read this.", { files: [file.id] })
    const shown = () => (model.received.at(-1)?.history.find(({ role }) => role === "user") as UserTurn).shown?.[0]
    expect(shown()).toMatchObject({ type: "words", text: expect.stringContaining("word word") as string })

    rmSync(join(filesFolder, name))
    const told = await ada.get(`/api/files/${file.id}`)
    expect([told.status, told.body]).toEqual([
      500,
      expect.objectContaining({
        code: "file_unreadable",
        detail: expect.stringContaining("Upload it again") as string,
      }),
    ])
    const { body } = await ada.say(id, "And now?")
    expect(body.run.status).toBe("completed")
    expect(shown()).toMatchObject({ text: expect.stringContaining("is missing from the folder for files") as string })
  })

  test("a server without the setting for the files folder starts and logs a warning; a request for a file names the missing setting", async () => {
    await using database = await create()
    const filesFolder = newFolder()
    const headers = { "content-type": "text/plain", "x-file-name": "long.txt" }
    let path = ""
    {
      await using face = await Face.open({ url: database.url, model: scripted(), filesFolder })
      const sent = await (await face.as("ada")).post("/api/files", Buffer.alloc(LARGE, "word "), headers)
      path = `/api/files/${sent.body.id}`
    }
    await using face = await Face.open({ url: database.url, model: scripted() })
    const running = await startServer(face.server, await listenOn(face.server, 0))
    await running.close(0)
    expect(face.logged).toContainEqual(expect.objectContaining({ event: "files_folder_not_named" }))
    const ada = await face.as("ada")
    expect((await ada.get(path)).body.detail).toContain("set PAWL_FILES_FOLDER")
    expect((await ada.delete(path)).status).toBe(204)
    expect(namesIn(filesFolder)).toHaveLength(1) // until it is named again
  })
})
