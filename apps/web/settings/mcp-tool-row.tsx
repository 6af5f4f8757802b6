import { Button } from "../components/button.tsx"
import { Plain } from "../components/plain.tsx"
import type { client } from "../state/client.ts"
import { type Key, t } from "../strings/strings.ts"

type Tool = Awaited<ReturnType<typeof client.listMcpServers>>["items"][number]["tools"][number]
type Definition = Tool["now"]

type Rule = Tool["rule"]
const RULES: Readonly<Record<Rule, Key>> = {
  ask: "settings.ruleAsk",
  read: "settings.ruleRead",
  off: "settings.ruleOff",
}

interface McpToolRowProps {
  readonly tool: Tool
  /** Whether the user added the server and so decides about its tools. */
  readonly isOwn: boolean
  readonly onDecide: (decision?: { rule: Rule } | { again: boolean }) => void
}

/** One tool: its description, its permission and, if it changed, its previous description. */
export function McpToolRow({ tool, isOwn, onDecide }: McpToolRowProps) {
  const { tool: name, rule, again, state, now, before } = tool
  return (
    <li className="px-3.5 py-2 text-sm">
      <div className="flex flex-wrap items-center gap-2">
        <code className="min-w-0 flex-1 font-mono text-[13px] [overflow-wrap:anywhere]">
          <Plain text={name} />
        </code>
        {state === "agreed" && !isOwn && <span className="text-faint">{t(RULES[rule])}</span>}
        {state === "agreed" && isOwn && (
          <select
            aria-label={t("settings.mcpPermission", { tool: name })}
            className="field w-auto"
            value={rule}
            onChange={({ target }) => onDecide({ rule: target.value as Rule })}
          >
            {Object.entries(RULES).map(([each, label]) => (
              <option key={each} value={each}>
                {t(label)}
              </option>
            ))}
          </select>
        )}
        {state !== "agreed" && (
          <>
            <span className="text-danger">{t(state === "new" ? "settings.mcpNew" : "settings.mcpChanged")}</span>
            <Button small onClick={() => onDecide()}>
              {t("settings.mcpAllowVersion")}
            </Button>
          </>
        )}
      </div>
      {state === "agreed" && isOwn && rule === "ask" && now.claims.idempotent === true && (
        <label className="mt-1 flex items-center gap-2 text-[13px]">
          <input type="checkbox" checked={again} onChange={({ target }) => onDecide({ again: target.checked })} />
          {t("settings.mcpRunAgain")}
        </label>
      )}
      {before && <Description label={t("settings.mcpBefore")} definition={before} />}
      <Description label={before && t("settings.mcpAfter")} definition={now} />
    </li>
  )
}

/** The description and the arguments by the server, drawn as plain text. */
function Description({ label, definition }: { readonly label: string | undefined; readonly definition: Definition }) {
  const { description, inputSchema } = definition
  return (
    <div className="mt-1 text-[13px] text-soft [overflow-wrap:anywhere]">
      {label !== undefined && <strong>{label} </strong>}
      <Plain text={description || t("settings.mcpNoDescription")} />
      <details>
        <summary className="text-faint">{t("settings.mcpArguments")}</summary>
        <pre className="overflow-x-auto whitespace-pre-wrap font-mono text-xs">
          <Plain text={JSON.stringify(inputSchema, null, 2)} />
        </pre>
      </details>
    </div>
  )
}
