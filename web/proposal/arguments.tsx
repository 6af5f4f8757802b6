import type { Proposal } from "../../src/protocol/index.ts"
import { Plain } from "../parts/plain.tsx"
import { Blocks } from "../changes/changes.tsx"
import { isWide } from "../changes/is-long.ts"
import { sentBlocks } from "./sent.ts"

/** The arguments that the change beside them does not tell. */
export function Sent({ proposal }: { readonly proposal: Proposal }) {
  const blocks = sentBlocks(proposal)
  return blocks.length > 0 ? <Blocks blocks={blocks} /> : null
}

interface ArgumentsProps {
  readonly tool: string
  readonly given: Readonly<Record<string, unknown>>
}

/** Exactly what is sent to the tool, every field, every character: for whoever wants to see it as it is. */
export function Arguments({ tool, given }: ArgumentsProps) {
  const fields = Object.entries(given)
  return (
    <details className="group/sent text-[13px]">
      <summary className="w-fit rounded text-faint hover:text-ink">
        Exactly what is sent to{" "}
        <code className="font-mono">
          <Plain text={tool} />
        </code>
      </summary>
      <div className="mt-1.5 rounded-xl bg-sunken px-3.5 py-2.5">
        {fields.length === 0 ? (
          <p className="text-soft">nothing</p>
        ) : (
          <dl className="fields gap-y-0.5 text-[12.5px]">
            {fields.map(([name, value]) => {
              const text = JSON.stringify(value)
              return (
                <div key={name} className="contents" data-wide={isWide(text) || undefined}>
                  <dt className="font-mono text-soft">
                    <Plain text={name} />
                  </dt>
                  <dd className="font-mono whitespace-pre-wrap">
                    <Plain text={text} />
                  </dd>
                </div>
              )
            })}
          </dl>
        )}
      </div>
    </details>
  )
}
