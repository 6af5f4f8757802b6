import type { ComponentProps } from "react"

type Look = "plain" | "quiet" | "main" | "danger" | "delete"

interface ButtonProps extends ComponentProps<"button"> {
  readonly look?: Look
  readonly small?: boolean
}

const LOOKS: Record<Look, string> = {
  plain: "border-line bg-surface text-ink hover:bg-sunken",
  quiet: "border-transparent text-soft hover:bg-sunken hover:text-ink",
  main: "border-transparent bg-accent text-accent-ink hover:opacity-90",
  danger: "border-transparent bg-danger-soft text-danger hover:opacity-90",
  // The main thing to do here, and it takes something away.
  delete: "border-transparent bg-danger text-danger-ink hover:opacity-90",
}

export function Button({ look = "plain", small = false, className = "", type = "button", ...rest }: ButtonProps) {
  const size = small ? "h-8 px-2.5 text-[13px]" : "h-9 px-3.5 text-sm"
  return (
    <button
      // A form's own button says so.
      type={type}
      className={`inline-flex shrink-0 items-center justify-center gap-1.5 rounded-lg border font-medium whitespace-nowrap transition-colors disabled:opacity-45 ${size} ${LOOKS[look]} ${className}`}
      {...rest}
    />
  )
}

interface IconButtonProps extends ComponentProps<"button"> {
  /** What it does, for whoever cannot see it. */
  readonly label: string
  readonly small?: boolean
}

export function IconButton({ label, small = false, className = "", type = "button", ...rest }: IconButtonProps) {
  return (
    <button
      type={type}
      aria-label={label}
      title={label}
      className={`inline-flex ${small ? "size-7" : "size-8"} shrink-0 items-center justify-center rounded-lg text-soft transition-colors hover:bg-sunken hover:text-ink disabled:opacity-45 ${className}`}
      {...rest}
    />
  )
}
