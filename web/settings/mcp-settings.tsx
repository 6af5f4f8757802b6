import { useState } from "react"
import { Button } from "../parts/button.tsx"
import { Confirm } from "../parts/dialog.tsx"
import { attempt } from "../parts/explain.ts"
import { Part } from "../parts/part.tsx"
import { Plain } from "../parts/plain.tsx"
import { useLoaded } from "../parts/use-loaded.tsx"
import { client } from "../state/client.ts"
import { McpForm } from "./mcp-form.tsx"
import { McpToolRow } from "./mcp-tool-row.tsx"

type Server = Awaited<ReturnType<typeof client.listMcpServers>>["items"][number]

/** Servers of others whose tools the person's agents may have: named, looked at, and each tool decided about. */
export function McpSettings() {
  const { value, reload, trouble } = useLoaded(() => client.listMcpServers())
  const [leaving, setLeaving] = useState<string>()
  return (
    <Part
      title="MCP servers"
      says="Their tools join your agents. Each asks you first, until you say otherwise; one that changes is held back until you have seen it."
    >
      {trouble}
      <McpForm onDone={reload} />
      {value?.items.map((server) => (
        <OneServer key={server.name} server={server} onChange={reload} onRemove={() => setLeaving(server.name)} />
      ))}
      {leaving !== undefined && (
        <Confirm
          title="Forget this server?"
          says={
            <>
              Your agents lose the tools of “<Plain text={leaving} />
              ”, and what you have decided about them is gone.
            </>
          }
          act="Forget it"
          onClose={() => setLeaving(undefined)}
          onAct={() => {
            setLeaving(undefined)
            void attempt(() => client.removeMcpServer({ params: { name: leaving } })).then(reload)
          }}
        />
      )}
    </Part>
  )
}

interface OneServerProps {
  readonly server: Server
  readonly onChange: () => Promise<void>
  readonly onRemove: () => void
}

const SIGN_IN = { needed: "Sign in to", ended: "Sign in again to", more: "Allow more at" } as const

/** The page is left for where the person signs in, and they come back to one that says how it went. */
const signIn = async (name: string) => {
  const { url } = await client.beginMcpSignIn({ params: { name }, body: {} })
  location.assign(url)
}

function OneServer({ server, onChange, onRemove }: OneServerProps) {
  const { name, by, address, agents, tools, signIn: state } = server
  const [isChanging, setChanging] = useState(false)
  const params = { name }
  return (
    <section aria-label={name} className="mb-4 rounded-xl border border-line">
      <header className="flex flex-wrap items-center gap-2 px-3.5 py-2">
        <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
          <Plain text={name} />
          <span className="block text-[13px] text-faint">
            {by === "operator" ? "the operator's" : "yours"}, <Plain text={address} />, for {agents.join(", ")}
          </span>
        </span>
        {state !== undefined && state !== "done" && (
          <Button small look="main" onClick={() => void attempt(() => signIn(name))}>
            {SIGN_IN[state]} {name}
          </Button>
        )}
        {state === "done" && (
          <Button small onClick={() => void attempt(() => client.endMcpSignIn({ params })).then(onChange)}>
            Sign out
          </Button>
        )}
        <Button small onClick={() => void attempt(() => client.lookAtMcpServer({ params })).then(onChange)}>
          Look again
        </Button>
        {by === "person" && (
          <>
            <Button small aria-expanded={isChanging} onClick={() => setChanging(!isChanging)}>
              Change
            </Button>
            <Button small onClick={onRemove}>
              Forget
            </Button>
          </>
        )}
      </header>
      {isChanging && (
        <McpForm
          of={server}
          onDone={async () => {
            setChanging(false)
            await onChange()
          }}
        />
      )}
      <ul className="divide-y divide-line border-t border-line">
        {tools.map((tool) => (
          <McpToolRow
            key={tool.tool}
            tool={tool}
            isOwn={by === "person"}
            onDecide={(decision) =>
              void attempt(() =>
                client.decideMcpTool({ params, body: { tool: tool.tool, hash: tool.now.hash, ...decision } }),
              ).then(onChange)
            }
          />
        ))}
      </ul>
    </section>
  )
}
