import { Plain } from "../parts/plain.tsx"
import { LongText } from "./long-text.tsx"

interface ArgumentsProps {
  readonly tool: string
  readonly given: Readonly<Record<string, unknown>>
}

/** Exactly what will be sent to the tool: every field, every character. */
export function Arguments({ tool, given }: ArgumentsProps) {
  const fields = Object.entries(given)
  return (
    <div className="rounded-xl bg-sunken px-3.5 py-2.5">
      <h3 className="mb-1 text-xs text-faint">
        Exactly what is sent to{" "}
        <code className="font-mono text-soft">
          <Plain text={tool} />
        </code>
      </h3>
      {fields.length === 0 ? (
        <p className="text-[13px] text-soft">nothing</p>
      ) : (
        <dl className="grid gap-x-4 gap-y-0.5 text-[12.5px] sm:grid-cols-[auto_1fr]">
          {fields.map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="font-mono text-soft">
                <Plain text={name} />
              </dt>
              <dd className="min-w-0 [overflow-wrap:anywhere]">
                <LongText mono text={JSON.stringify(value)} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  )
}
