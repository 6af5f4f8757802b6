import { Plain } from "./plain.tsx"

/** Any value as JSON, every character of it seen. */
export const Json = ({ value, tall }: { readonly value: unknown; readonly tall?: boolean }) => (
  <JsonText text={JSON.stringify(value, undefined, 2) ?? "nothing"} tall={tall ?? false} />
)

/** What was written as JSON already, or is a part of it. */
export function JsonText({ text, tall = false }: { readonly text: string; readonly tall?: boolean }) {
  return (
    <pre
      tabIndex={0}
      className={`${tall ? "" : "max-h-80"} overflow-auto rounded-lg border border-line bg-sunken px-3 py-2 font-mono text-[12.5px] leading-relaxed whitespace-pre-wrap [overflow-wrap:anywhere]`}
    >
      <Plain text={text} />
    </pre>
  )
}
