import { readPages } from "../../../client/index.ts"
import { useState } from "react"
import { Button } from "../components/button.tsx"
import { Confirm } from "../components/dialog.tsx"
import { attempt } from "../components/explain.ts"
import { Section } from "../components/section.tsx"
import { Plain } from "../components/plain.tsx"
import { useLoaded } from "../components/use-loaded.tsx"
import { client } from "../state/client.ts"
import { list } from "../strings/format.ts"
import { type Key, t } from "../strings/strings.ts"
import { McpForm } from "./mcp-form.tsx"
import { McpToolRow } from "./mcp-tool-row.tsx"

type Server = Awaited<ReturnType<typeof client.listMcpServers>>["items"][number]

/** The MCP servers whose tools the user's agents can use, with a permission for each tool. */
export function McpSettings() {
  const { value, reload, trouble } = useLoaded(() => readPages((query) => client.listMcpServers({ query })))
  const [leaving, setLeaving] = useState<string>()
  return (
    <Section title={t("settings.mcpServers")} says={t("settings.mcpHint")}>
      {trouble}
      <McpForm onDone={reload} />
      {value?.map((server) => (
        <OneServer key={server.name} server={server} onChange={reload} onRemove={() => setLeaving(server.name)} />
      ))}
      {leaving !== undefined && (
        <Confirm
          title={t("settings.mcpRemove")}
          name={leaving}
          says={t("settings.mcpRemoveHint")}
          act={t("common.remove")}
          onClose={() => setLeaving(undefined)}
          onAct={() => {
            setLeaving(undefined)
            void attempt(() => client.removeMcpServer({ params: { name: leaving } })).then(reload)
          }}
        />
      )}
    </Section>
  )
}

interface OneServerProps {
  readonly server: Server
  readonly onChange: () => Promise<void>
  readonly onRemove: () => void
}

const SIGN_IN = {
  needed: "settings.mcpSignIn",
  ended: "settings.mcpSignInAgain",
  more: "settings.mcpAllowMore",
} as const satisfies Record<string, Key>

/** Leaves the page for the sign-in of the server, which then shows a page with the result. */
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
            {t("settings.mcpOwner", { by })} · {t("settings.mcpAgents", { agents: list(agents) })} ·{" "}
            <Plain text={address} />
          </span>
        </span>
        {state !== undefined && state !== "done" && (
          <Button small look="main" onClick={() => void attempt(() => signIn(name))}>
            {t(SIGN_IN[state])}
          </Button>
        )}
        {state === "done" && (
          <Button small onClick={() => void attempt(() => client.endMcpSignIn({ params })).then(onChange)}>
            {t("shell.signOut")}
          </Button>
        )}
        <Button small onClick={() => void attempt(() => client.lookAtMcpServer({ params })).then(onChange)}>
          {t("settings.refresh")}
        </Button>
        {by === "person" && (
          <>
            <Button small aria-expanded={isChanging} onClick={() => setChanging(!isChanging)}>
              {t("settings.edit")}
            </Button>
            <Button small onClick={onRemove}>
              {t("common.remove")}
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
