import { Button } from "../parts/button.tsx"
import { Plain } from "../parts/plain.tsx"
import type { client } from "../state/client.ts"

type Tool = Awaited<ReturnType<typeof client.listMcpServers>>["items"][number]["tools"][number]
type Definition = Tool["now"]

const RULES = { ask: "asks you each time", read: "runs unasked", off: "is switched off" } as const
type Rule = keyof typeof RULES

interface McpToolRowProps {
  readonly tool: Tool
  /** Of a server of the person's own: there they decide how it runs. */
  readonly isOwn: boolean
  readonly onDecide: (decision?: { rule: Rule } | { again: boolean }) => void
}

/** One tool: what its server says of it, what is decided, and of one that has changed what it was before. */
export function McpToolRow({ tool, isOwn, onDecide }: McpToolRowProps) {
  const { tool: name, rule, again, state, now, before } = tool
  return (
    <li className="px-3.5 py-2 text-sm">
      <div className="flex flex-wrap items-center gap-2">
        <code className="min-w-0 flex-1 font-mono text-[13px] [overflow-wrap:anywhere]">
          <Plain text={name} />
        </code>
        {state === "agreed" && !isOwn && <span className="text-faint">{RULES[rule]}</span>}
        {state === "agreed" && isOwn && (
          <select
            aria-label={`What ${name} may do`}
            className="field w-auto"
            value={rule}
            onChange={({ target }) => onDecide({ rule: target.value as Rule })}
          >
            {Object.entries(RULES).map(([each, says]) => (
              <option key={each} value={each}>
                {says}
              </option>
            ))}
          </select>
        )}
        {state !== "agreed" && (
          <>
            <span className="text-danger">{state === "new" ? "new: held back" : "changed: held back"}</span>
            <Button small onClick={() => onDecide()}>
              Allow it as it is now
            </Button>
          </>
        )}
      </div>
      {state === "agreed" && isOwn && rule === "ask" && now.claims.idempotent === true && (
        <label className="mt-1 flex items-center gap-2 text-[13px]">
          <input type="checkbox" checked={again} onChange={({ target }) => onDecide({ again: target.checked })} />
          It says that a second time changes nothing: it may run again after a crash
        </label>
      )}
      {before && <Words label="Before" definition={before} />}
      <Words label={before ? "Now" : undefined} definition={now} />
    </li>
  )
}

/** A stranger's words, as text and nothing else. */
function Words({ label, definition }: { readonly label: string | undefined; readonly definition: Definition }) {
  const { description, inputSchema } = definition
  return (
    <div className="mt-1 text-[13px] text-soft [overflow-wrap:anywhere]">
      {label !== undefined && <strong>{label}: </strong>}
      <Plain text={description || "It says nothing of itself."} />
      <details>
        <summary className="text-faint">its arguments</summary>
        <pre className="overflow-x-auto whitespace-pre-wrap font-mono text-xs">
          <Plain text={JSON.stringify(inputSchema, null, 2)} />
        </pre>
      </details>
    </div>
  )
}
