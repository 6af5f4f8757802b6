import { Plain } from "./plain.tsx"

/** Any value as JSON, every character of it seen. */
export function Json({ value }: { readonly value: unknown }) {
  return (
    <pre
      tabIndex={0}
      className="max-h-80 overflow-auto rounded-lg border border-line bg-sunken px-3 py-2 font-mono text-[12.5px] leading-relaxed whitespace-pre-wrap [overflow-wrap:anywhere]"
    >
      <Plain text={JSON.stringify(value, undefined, 2) ?? "nothing"} />
    </pre>
  )
}
