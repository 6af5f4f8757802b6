import { memo } from "react"
import { piecesOf } from "../../../client/index.ts"
import { t } from "../strings/strings.ts"

/** Text of others, unchanged: without markup, and with hidden characters made visible. */
export const Plain = memo(function Plain({ text }: { readonly text: string }) {
  const pieces = piecesOf(text)
  return (
    <bdi>
      {pieces.map((piece, index) =>
        piece.hidden ? (
          <span
            key={index}
            className="mx-px rounded bg-warn-soft px-1 font-mono text-[0.8em] text-warn"
            title={t("common.hiddenCharacter")}
          >
            {piece.text}
          </span>
        ) : (
          piece.text
        ),
      )}
    </bdi>
  )
})

/** A value as JSON, with hidden characters made visible. */
export const Json = ({ value, tall }: { readonly value: unknown; readonly tall?: boolean }) => (
  <JsonText text={JSON.stringify(value, undefined, 2) ?? t("common.empty")} tall={tall ?? false} />
)

/** Text that is JSON already. */
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

/**
 * Text that others chose (a program, a server, a model, another person), alone in a box. Such text never stands inside
 * a sentence of ours, where a name could continue the sentence. `test/house/names-of-others.test.ts` checks that.
 */
export function NameBox({ text, inline = false }: { readonly text: string; readonly inline?: boolean }) {
  const place = inline ? "inline-block px-1.5 align-bottom" : "mt-1.5 block w-fit px-3 py-1.5"
  return (
    <span
      className={`max-h-32 max-w-full overflow-y-auto rounded-lg border border-line bg-sunken font-medium text-ink [overflow-wrap:anywhere] ${place}`}
      data-name-box
    >
      <Plain text={text} />
    </span>
  )
}
