import { readFile } from "node:fs/promises"
import { userInfo } from "node:os"
import { join } from "node:path"
import { SignJWT } from "jose"
import { describe, expect, test } from "vitest"
import { chatChunk, chatReply, ProviderServer, sse, streamHead } from "../../core/models/providers/server.fixture.ts"
import { command } from "../support/processes/commands.ts"
import { dataFolder, PawlProcess, pawl } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"
import { anyDatabase, databases } from "../support/databases.ts"
import { Visitor } from "../support/server/face.ts"

const call = (name: string, input: object) =>
  sse(
    chatChunk({
      role: "assistant",
      tool_calls: [{ index: 0, id: "c", type: "function", function: { name, arguments: JSON.stringify(input) } }],
    }),
    chatChunk({}, "tool_calls"),
    "[DONE]",
  )

async function serve(environment: Record<string, string>): Promise<PawlProcess & { url: string }> {
  const server = new PawlProcess(["serve"], { PAWL_PORT: "0", ...environment })
  const [, url] = await server.says(/listening on (\S+)\n/)
  return Object.assign(server, { url: url as string })
}

const visitor = async (url: string, environment: Record<string, string>, user = "ada") => {
  return new Visitor(fetch, await tokenFor(environment, user), url)
}

describe.concurrent("pawl serve", () => {
  test("a conversation with a provider, from the first start to SIGTERM", async () => {
    let asked = 0
    await using provider = await ProviderServer.open((response) => {
      streamHead(response).end(
        asked++ === 0 ? call("create_task", { title: "Buy milk" }) : chatReply("Milk is on your list."),
      )
    })
    const environment = { PAWL_DATA: dataFolder(), LM_STUDIO_ENDPOINT: provider.url, PAWL_MODEL: "qwen" }
    await using server = await serve(environment)
    const ada = await visitor(server.url, environment)
    const id = await ada.begin()
    const said = await ada.say(id, "I need milk")
    expect([said.status, said.body.run.status]).toEqual([200, "paused"])
    expect((await ada.get(`/api/conversations/${id}/model`)).body.model).toBe("qwen/qwen3-8b")
    expect((await ada.post(`/api/agent/proposals/${said.body.proposals[0].id}/commit`)).body.status).toBe("applied")
    const { body } = await ada.post(`/api/conversations/${id}/resume`)
    expect(body.messages.at(-1).content).toBe("Milk is on your list.")
    const [request] = provider.received
    const shown = request?.body.tools.map((tool: { function: { name: string } }) => tool.function.name)
    expect(shown).toEqual(expect.arrayContaining(["list_tasks", "create_task", "delete_task"]))
    expect(shown, "what only takes back is nothing a model knows of").not.toContain("restore_task")

    const { code, stderr } = await server.kill("SIGTERM")
    expect(code).toBe(0)
    expect(stderr, "nothing was wrong").not.toMatch(/"level":"(warn|error)"/)
    await using again = await serve(environment)
    const back = new Visitor(fetch, undefined, again.url)
    expect((await back.get("/readyz")).status).toBe(200)
    expect((await (await visitor(again.url, environment)).get(`/api/conversations/${id}`)).body.messages).toHaveLength(
      4,
    )
  })

  test("a run that was cut off by kill -9 continues by itself with the next start", async () => {
    const second = Promise.withResolvers<void>()
    let asked = 0
    await using provider = await ProviderServer.open((response) => {
      streamHead(response)
      if (asked++ === 0) return void first.resolve()
      response.end(chatReply("Here I am again."))
      second.resolve()
    })
    const first = Promise.withResolvers<void>()
    const environment = { PAWL_DATA: dataFolder(), LM_STUDIO_ENDPOINT: provider.url, PAWL_MODEL: "qwen" }
    const id = await (async () => {
      await using server = await serve(environment)
      const ada = await visitor(server.url, environment)
      const id = await ada.begin()
      ada.say(id, "hello").catch(() => {})
      await first.promise
      return id
    })()
    await using server = await serve(environment)
    await second.promise
    const ada = await visitor(server.url, environment)
    const { body } = await ada.post(`/api/conversations/${id}/resume`)
    expect(body.messages.at(-1).content).toBe("Here I am again.")
  })

  test("SIGTERM does not wait for a model: the message is stored and answered after the next start", async () => {
    const asked = Promise.withResolvers<void>()
    await using provider = await ProviderServer.open((response) => {
      streamHead(response)
      asked.resolve()
    })
    const environment = { PAWL_DATA: dataFolder(), LM_STUDIO_ENDPOINT: provider.url, PAWL_MODEL: "qwen" }
    await using server = await serve(environment)
    const ada = await visitor(server.url, environment)
    const answer = ada.say(await ada.begin(), "hello")
    await asked.promise
    const ended = server.kill("SIGTERM")
    expect((await answer).status).toBe(202)
    expect((await ended).code).toBe(0)
  })

  test("a proxy's headers are trusted if the operator has named the proxy", async () => {
    const headers = { "x-forwarded-host": "evil.example" }
    const status = async (settings: Record<string, string>) => {
      await using server = await serve({ PAWL_DATA: dataFolder(), ...settings })
      return (await fetch(`${server.url}/healthz`, { headers })).status
    }
    expect(await status({})).toBe(200)
    expect(await status({ PAWL_TRUSTED_PROXY: "127.0.0.0/8" })).toBe(421)
    const half = await command(["serve"], { PAWL_DATA: dataFolder(), PAWL_JWT_SECRET: "x".repeat(40) })
    expect([half.code, half.stderr]).toEqual([1, expect.stringContaining("PAWL_JWT_ISSUER")])
  })

  test("a JWT of the configured issuer is accepted", async () => {
    const secret = "a-shared-secret-of-at-least-32-bytes!"
    const settings = { PAWL_JWT_SECRET: secret, PAWL_JWT_ISSUER: "https://id.example", PAWL_DATA: dataFolder() }
    await using server = await serve(settings)
    const claims = new SignJWT({ scope: "read" })
      .setIssuer("https://id.example")
      .setSubject("ada")
      .setExpirationTime("1h")
    const token = await claims.setProtectedHeader({ alg: "HS256" }).sign(new TextEncoder().encode(secret))
    const me = await new Visitor(fetch, token, server.url).get("/api/auth/me")
    expect(me.body).toMatchObject({ user: { name: "ada" }, scopes: ["read"], credential: { type: "jwt" } })
  })

  test("reports a port in use and an invalid setting in plain words", async () => {
    const environment = { PAWL_DATA: dataFolder() }
    await using server = await serve(environment)
    const { port } = new URL(server.url)
    const taken = await pawl(["serve", "--port", port], { PAWL_DATA: dataFolder() })
    expect([taken.code, taken.stderr]).toEqual([1, expect.stringContaining(`Port ${port} is already in use`)])
    const bad = await command(["serve"], { ...environment, PAWL_PORT: "many", PAWL_PROT: "1" })
    expect([bad.code, bad.stderr]).toEqual([1, expect.stringContaining('PAWL_PORT cannot be "many"')])
    const odd = await command(["token", "create", "--user", "ada"], { ...environment, PAWL_PROT: "1" })
    expect([odd.code, odd.stderr]).toEqual([0, expect.stringContaining("PAWL_PROT is not a setting")])
  })
})

describe.concurrent("pawl exec", () => {
  test.each(anyDatabase)("what waits for a decision is decided on the server, on $name", async ({ name, create }) => {
    const database: Record<string, string> = name === "postgres" ? { DATABASE_URL: (await create()).url } : {}
    const environment: Record<string, string> = { PAWL_DATA: dataFolder(), ...database }
    await using server = await serve(environment)
    expect((await command(["exec", "--agent", "workspace", "add a task: buy milk"], environment)).code).toBe(2)
    const me = await visitor(server.url, environment, userInfo().username)
    const [proposal] = (await me.get("/api/agent/proposals?status=pending")).body.items
    expect((await me.post(`/api/agent/proposals/${proposal.id}/commit`)).body.status).toBe("applied")
    expect((await me.post(`/api/conversations/${proposal.conversationId}/resume`)).body.run.status).toBe("completed")
    expect((await command(["exec", "--agent", "workspace", "list my tasks"], environment)).stdout).toContain("Buy milk")
  })

  test("offline: a change needs approval, auto applies it, a read shows it, next to a running server", async () => {
    const environment = { PAWL_DATA: dataFolder() }
    await using server = await serve(environment)
    const asked = await pawl(["exec", "--agent", "workspace", "add a task: buy milk"], environment)
    expect([asked.code, asked.stdout]).toEqual([2, ""])
    expect(asked.stderr).toContain('Waiting for your approval: Create task "Buy milk" (status: todo')
    expect((await command(["exec", "--agent", "workspace", "list my tasks"], environment)).stdout).toBe(
      "No tasks found.\n",
    )

    const made = await command(["exec", "--agent", "workspace", "--mode", "auto", "add a task: buy milk"], environment)
    expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^Task created: Buy milk \(.*\)\.\n$/)])
    expect(made.stderr).toMatch(/> create_task \{"title":"Buy milk"\}\n< create_task: ok/)

    const file = join(environment.PAWL_DATA, "answer.txt")
    const listed = await pawl(["exec", "--agent", "workspace", "-o", file, "list my tasks"], environment)
    expect(listed.stdout).toMatch(/^Found 1 task\(s\):\n- Buy milk/)
    expect(await readFile(file, "utf8")).toBe(listed.stdout)

    const person = await visitor(server.url, environment, userInfo().username)
    const { items } = (await person.get("/api/conversations")).body
    const titles = items.map(({ title }: { title: string }) => title)
    expect(titles, "by which a person finds them again").toEqual([
      ...["list my tasks", "add a task: buy milk", "list my tasks", "add a task: buy milk"],
    ])
  })

  test("pawl show prints what runs cost, what was recorded, and the state in between", async () => {
    const environment = { PAWL_DATA: dataFolder() }
    const nothing = await command(["show"], environment)
    expect([nothing.code, nothing.stderr]).toEqual([1, expect.stringContaining("There is no conversation yet")])
    await command(["exec", "--agent", "workspace", "--mode", "auto", "add a task: buy milk"], environment)

    const { stdout } = await command(["show"], environment)
    expect(stdout).toMatch(/^run_\w+ · completed · offline\n.* in total · models .*\n2 model calls · 1 tool call\n/)
    expect(stdout).toMatch(
      /Message · add a task: buy milk\n[^]*calls create_task\n[^]*Create task · done\n[^]*Completed\n$/,
    )
    const [run = ""] = stdout.split(" ")
    const foreign = await command(["show", `${run}x`], environment)
    expect(foreign).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/run_\w+ does not exist, .*--server URL/),
    })
    const beside = (await command(["show", run, run], environment)).stdout
    expect(beside.split("\n")[0]).toMatch(new RegExp(`^${run}.* │ ${run}`))

    const rows = (await command(["show", run, "--rows"], environment)).stdout.trim().split("\n")
    const told = rows.map((row) => JSON.parse(row) as { type: string; position: number })
    expect([told[0]?.type, told.at(-1)?.type]).toEqual(["run_started", "run_ended"])
    const state = await command(["show", run, "--at", String(told[0]!.position)], environment)
    expect(JSON.parse(state.stdout)).toMatchObject({ status: "running", iteration: 0 })
    const publicly = { ...environment, PAWL_PUBLIC_URL: "https://p.example/" }
    const link = await command(["show", run, "--share", "--days", "2"], publicly)
    expect(link.stdout).toMatch(/^https:\/\/p\.example\/shared#[\w-]{43,}\n$/)
    expect(link.stderr).toMatch(/sees this run:[^]*The link expires at \d{4}-\d\d-\d\dT/)
    const [shared = "", of] = (await command(["show", "--shares"], environment)).stdout.split("  ")
    expect(of).toBe(run)
    expect((await command(["show", "--unshare", shared], environment)).stdout).toBe(`${shared} is revoked.\n`)
    expect((await command(["show", "--shares"], environment)).stdout).toBe("No run is shared.\n")
    const wrong = await command(["show", "task_1"], environment)
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('"task_1" is not a run')])
  })

  test("an unreachable MCP server is refused in one sentence that says who can change that", async () => {
    const { code, stderr } = await command(["mcp", "add", "notes", "http://127.0.0.1:1/mcp"], {
      PAWL_DATA: dataFolder(),
    })
    expect(code).toBe(1)
    expect(stderr).toBe(
      "pawl: 127.0.0.1 is not a public address. The operator of this server can allow it with PAWL_ALLOW_PRIVATE_HOSTS.\n",
    )
  })

  test("piped input is added to the request; events come as JSON lines", async () => {
    const environment = { PAWL_DATA: dataFolder() }
    const piped = await pawl(["exec", "--agent", "workspace", "--json"], environment, "list my tasks\n")
    const events = piped.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    expect(piped.code).toBe(0)
    expect(events[0].type).toBe("conversation_started")
    expect(events.flatMap((event) => (event.type === "text_delta" ? [event.text] : [])).join("")).toBe(
      "No tasks found.",
    )
    expect(events.at(-1)).toEqual({ type: "done", status: "completed" })
    const both = await command(["exec", "--agent", "workspace", "--json", "find tasks about"], environment, "garden")
    expect(both.stdout).toContain("find tasks about\\n\\ngarden")
  })

  test("a failure exits with 3 and its sentence, wrong usage with 1", async () => {
    await using provider = await ProviderServer.open((response) => {
      response
        .writeHead(401, { "content-type": "application/json" })
        .end('{"error":{"message":"bad key sk-secret-key-123456"}}')
    })
    const environment = {
      PAWL_DATA: dataFolder(),
      OPENAI_BASE_URL: provider.url,
      OPENAI_API_KEY: "sk-secret-key-123456",
    }
    const [failed, unchosen, unknown, forbidden, model, ...wrong] = await Promise.all([
      pawl(["exec", "--model", "openai/any", "hello"], environment),
      command(["exec", "hello"], environment),
      command(["exec", "--agent", "nobody", "--model", "offline", "hello"], environment),
      command(["exec", "--mode", "auto", "hi"], { ...environment, PAWL_FORBID_AUTO: "1" }),
      command(["exec", "--model", "gpt-9", "hi"], environment),
      ...[["--mode", "yolo", "hi"], ["--nonsense", "hi"], []].map((words) => command(["exec", ...words], environment)),
    ])
    expect([failed.code, failed.stderr]).toEqual([3, expect.stringContaining("pawl: OpenAI rejected the API key")])
    expect(failed.stderr).not.toContain("secret-key")
    // The only configured provider is used without a choice.
    expect([unchosen.code, unchosen.stderr]).toEqual([3, expect.stringContaining("OpenAI rejected the API key")])
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('There is no agent "nobody"')])
    expect(wrong.map(({ code }) => code)).toEqual([1, 1, 1])
    expect([forbidden.code, forbidden.stderr]).toEqual([
      1,
      expect.stringContaining("The operator does not allow the mode"),
    ])
    expect([model.code, model.stderr]).toEqual([
      1,
      expect.stringMatching(/There is no model "gpt-9"\. Did you mean openai\/gpt-.*\? Models: /),
    ])
  })

  test("Ctrl-C cancels the run and ends with 130", async () => {
    await using provider = await ProviderServer.open((response) => {
      streamHead(response).write(sse(chatChunk({ role: "assistant", content: "I begin" })))
    })
    const environment = { PAWL_DATA: dataFolder(), LM_STUDIO_ENDPOINT: provider.url, PAWL_MODEL: "qwen" }
    await using running = new PawlProcess(["exec", "talk"], environment)
    await running.says(/I begin/)
    const { code, stdout, stderr } = await running.kill("SIGINT")
    expect([code, stdout, stderr]).toEqual([130, "I begin\n", "cancelled\n"])
  })
})

describe.concurrent("pawl", () => {
  test("prints its help", async () => {
    const [help, version, none, unknown] = await Promise.all([
      pawl(["--help"]),
      command(["--version"]),
      command([]),
      pawl(["frobnicate"]),
    ])
    expect([help.code, help.stdout]).toEqual([0, expect.stringContaining("pawl <command> --help")])
    expect([version.code, version.stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)])
    expect([none.code, none.stdout]).toEqual([0, help.stdout])
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      'pawl: Unknown command "frobnicate". Run "pawl help" for all commands.\n',
    ])
  })

  test.each([
    "serve",
    "acp",
    "exec",
    "eval",
    "token",
    "invite",
    "migrate",
    "backup",
    "export",
    "import",
    "trust",
    "rotate-keys",
    "doctor",
    "replay",
    "crashtest",
  ])("pawl %s --help prints its usage", async (name) => {
    const { code, stdout } = await command([name, "--help"])
    expect([code, stdout]).toEqual([0, expect.stringContaining(`Usage: pawl ${name}`)])
  })

  test("a token is printed alone, and only with scopes that exist", async () => {
    const environment = { PAWL_DATA: dataFolder() }
    const made = await pawl(["token", "create", "--user", "ada", "--scopes", "read,admin"], environment)
    expect(made).toEqual({ code: 0, stdout: expect.stringMatching(/^pawl_[\w-]{45}\n$/), stderr: "" })
    const wrong = await command(["token", "create", "--user", "ada", "--scopes", "root"], environment)
    expect([wrong.code, wrong.stdout, wrong.stderr]).toEqual([
      1,
      "",
      expect.stringContaining("read, chat, approve, manage, admin"),
    ])
    expect((await command(["token", "create"], environment)).stderr).toContain("--user NAME")
    expect((await command(["token"], environment)).code).toBe(1)
  })

  test.each(databases)("the link that serve prints signs the owner in, once, on $name", async ({ name, create }) => {
    const database: Record<string, string> = name === "postgres" ? { DATABASE_URL: (await create()).url } : {}
    const environment: Record<string, string> = { PAWL_DATA: dataFolder(), ...database }
    await using server = await serve(environment)
    const { input } = await server.says(/listening/)
    // A server with several people has no owner at its keyboard.
    if (name === "postgres") return expect(input).toMatch(/^No one can sign in yet\. .*pawl invite/)
    const [, link, url] = /^Sign in.*: (\S+)\nlistening on (\S+)\n$/.exec(input) ?? []
    expect(link).toMatch(new RegExp(`^${url}/sign-in#[\\w-]{45}$`))
    const use = () =>
      fetch(`${server.url}/api/auth/sign-in`, {
        method: "POST",
        body: JSON.stringify({ secret: new URL(link!).hash.slice(1) }),
      })
    const used = await use()
    const signedIn = (await used.json()) as { pageSecret: string }
    expect(signedIn).toMatchObject({
      user: { name: userInfo().username },
      scopes: expect.arrayContaining(["admin"]),
    })
    const [cookie = ""] = used.headers.getSetCookie()
    const me = await fetch(`${server.url}/api/auth/me`, {
      headers: { cookie: cookie.split(";")[0]!, "x-pawl-session": signedIn.pageSecret },
    })
    expect(me.status).toBe(200)
    expect((await use()).status).toBe(401)
    const ended = await server.kill("SIGTERM")
    expect(ended.stderr, "nothing was wrong").not.toMatch(/"level":"(warn|error)"/)
    await using again = await serve(environment)
    expect((await again.says(/listening/)).input).not.toContain(link)
  })

  test("a link is printed alone, for a person who may be new, and leads to the server's address", async () => {
    const environment = { PAWL_DATA: dataFolder() }
    const made = await pawl(["invite", "--user", "ada"], environment)
    expect(made).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^http:\/\/127\.0\.0\.1:7295\/sign-in#[\w-]{45}\n$/),
      stderr: "",
    })
    const elsewhere: [words: string[], settings: Record<string, string>, start: string][] = [
      [[], { PAWL_PUBLIC_URL: "https://pawl.example/app/" }, "https://pawl.example/app/sign-in#"],
      [["--server", "https://a.example"], { PAWL_PORT: "0" }, "https://a.example/sign-in#"],
      [["--admin"], { PAWL_HOST: "0.0.0.0" }, "http://127.0.0.1:7295/sign-in#"],
    ]
    const links = elsewhere.map(async ([words, settings, start]) => {
      const { stdout } = await command(["invite", "--user", "ada", ...words], { ...environment, ...settings })
      expect(stdout.slice(0, start.length)).toBe(start)
    })
    const wrong = [[], ["--user", "ada", "bob"], ["--user", "ada", "--server", "x"], ["--user", " "]]
    const refusals = wrong.map(async (words) => {
      const { code, stdout } = await command(["invite", ...words], environment)
      expect([words, code, stdout]).toEqual([words, 1, ""])
    })
    await Promise.all([...links, ...refusals])
    expect((await command(["invite", "--user", "ada"], { ...environment, PAWL_PORT: "0" })).stderr).toContain(
      "--server",
    )
  })

  test("migrate and doctor report the state", async () => {
    const environment = { PAWL_DATA: dataFolder() }
    const migrated = await command(["migrate"], environment)
    expect([migrated.code, migrated.stdout]).toEqual([0, expect.stringContaining("001_schema")])
    const well = await pawl(["doctor"], environment)
    expect([well.code, well.stdout]).toEqual([0, expect.stringContaining("default model: offline")])
    const ill = await command(["doctor"], { ...environment, DATABASE_URL: "postgres://u:hunter2@127.0.0.1:1/x" })
    expect([ill.code, ill.stdout]).toEqual([
      1,
      expect.stringContaining("wrong The database (DATABASE_URL) cannot be opened"),
    ])
    expect(ill.stdout).not.toContain("hunter2")
    const lastOf = ({ stdout }: { readonly stdout: string }) => stdout.trimEnd().split("\n").at(-1)
    expect([lastOf(well), lastOf(ill)]).toEqual(["No problems found.", '1 problem found; see "wrong" above.'])
  })
})
