import { box, circle, drawIcon } from "./draw-icon.tsx"

const book = "M12 6.5v13M12 6.5c-2-1.5-5-2-9-2v13c4 0 7 .5 9 2 2-1.5 5-2 9-2v-13c-4 0-7 .5-9 2z"
const folder = "M3 6a2 2 0 0 1 2-2h4l2.5 3H19a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z"
const lid = box(3, 4, [18, 5], 1)
const parcel = "M20 11V7.5L12 3 4 7.5v9l8 4.5 2-1.1M4 7.5l8 4.5 8-4.5M12 12v9"
const pencil = "M4 20l1-4.5L16 4.5a2 2 0 0 1 2.8 0l.7.7a2 2 0 0 1 0 2.8L8.5 19zM14 6.5l3.5 3.5"
const sheet = "M14 3H7a2 2 0 0 0-2 2v14a2 2 0 0 0 2 2h10a2 2 0 0 0 2-2V8zM14 3v5h5"
const frame = box(3, 4, [18, 16])

export const Archive = drawIcon(lid, "M5 9v9a2 2 0 0 0 2 2h10a2 2 0 0 0 2-2V9M10 13h4")
export const ArchiveRestore = drawIcon(lid, "M5 9v9a2 2 0 0 0 2 2h2M19 9v9a2 2 0 0 1-2 2h-2M12 20v-7M9 15.5l3-3 3 3")
export const BookOpen = drawIcon(book)
export const BookOpenText = drawIcon(
  book,
  "M6.5 8.7c1 .1 2 .3 2.7.5M6.5 12.2c1 .1 2 .3 2.7.5M17.5 8.7c-1 .1-2 .3-2.7.5M17.5 12.2c-1 .1-2 .3-2.7.5",
)
export const Bot = drawIcon(box(4, 9, [16, 11], 3), circle(12, 4, 1), "M12 9V5M9 14v1.5M15 14v1.5M1.5 14v2M22.5 14v2")
export const Building = drawIcon(
  box(5, 3, [14, 18], 1.5),
  "M9 7h.01M15 7h.01M9 11h.01M15 11h.01M9 15h.01M15 15h.01M10 21v-2h4v2",
)
export const Calendar = drawIcon(
  box(4, 5, [16, 16]),
  "M4 10h16M8 3v4M16 3v4M8 14h.01M12 14h.01M16 14h.01M8 17.5h.01M12 17.5h.01",
)
export const ChartColumn = drawIcon("M4 4v14a2 2 0 0 0 2 2h14M9 16v-4M13.5 16V7M18 16v-6")
export const Columns = drawIcon(frame, "M9 4v16M15 4v16")
export const Copy = drawIcon(box(8, 8, [12, 12]), "M5 16a1 1 0 0 1-1-1V6a2 2 0 0 1 2-2h9a1 1 0 0 1 1 1")
export const Database = drawIcon(
  "M4 6c0-1.7 3.6-3 8-3s8 1.3 8 3-3.6 3-8 3-8-1.3-8-3z",
  "M4 6v12c0 1.7 3.6 3 8 3s8-1.3 8-3V6M4 12c0 1.7 3.6 3 8 3s8-1.3 8-3",
)
export const Paperclip = drawIcon(
  "M20 11.5l-8.5 8.5a5 5 0 0 1-7-7L13 4.5a3.4 3.4 0 0 1 4.8 4.8L9.3 17.8a1.7 1.7 0 0 1-2.4-2.4l7.8-7.8",
)
export const FileText = drawIcon(sheet, "M9 13h6M9 17h4")
export const FileUp = drawIcon(sheet, "M12 18v-6M9.5 14l2.5-2.5 2.5 2.5")
export const Flask = drawIcon("M9 3h6M10 3v6L4.8 18a2 2 0 0 0 1.7 3h11a2 2 0 0 0 1.7-3L14 9V3M7.2 15h9.6")
export const Folder = drawIcon(folder, "M3 11h18")
export const FolderCode = drawIcon(folder, "M10 11.5L7.5 14l2.5 2.5M14 11.5l2.5 2.5-2.5 2.5")
export const Hand = drawIcon(
  "M8 12V6a1.5 1.5 0 0 1 3 0v5M11 11V4.5a1.5 1.5 0 0 1 3 0V11M14 11V6a1.5 1.5 0 0 1 3 0v5",
  "M17 11V9a1.5 1.5 0 0 1 3 0v5a7 7 0 0 1-7 7h-1c-2.5 0-4-1-5.3-3L4 13.5a1.6 1.6 0 0 1 2.6-1.8L8 13.5",
)
export const Image = drawIcon(frame, circle(8.5, 9, 1.5), "M21 15l-4.5-4.5L7 20")
export const Inbox = drawIcon("M3 13h5l2 3h4l2-3h5M5.5 5h13L21 13v5a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2v-5z")
export const Key = drawIcon(circle(8, 15.5, 4.5), "M11.3 12.2L20 3.5M17 6.5l3 3M14 9.5l2 2")
export const Laptop = drawIcon(box(5, 4, [14, 11]), "M2 19h20")
export const Library = drawIcon(box(2, 4, [5, 16], 1), box(8, 4, [5, 16], 1), "M15 5.5l3-.8 4 14.6-3 .8z")
export const Monitor = drawIcon(box(3, 4, [18, 12]), "M8 20h8M12 16v4")
export const Notebook = drawIcon(box(5, 3, [15, 18]), "M3 7h4M3 12h4M3 17h4M11 8h5M11 12h5M11 16h3")
export const PackageMinus = drawIcon(parcel, "M16 17h6")
export const PackagePlus = drawIcon(parcel, "M19 14v6M16 17h6")
export const PenLine = drawIcon(pencil, "M13 20h7")
export const Pencil = drawIcon(pencil)
export const Plug = drawIcon("M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4")
export const Settings = drawIcon(
  circle(12, 12, 3),
  "M10.2 5.2L10.4 2.8L13.6 2.8L13.8 5.2L15.5 5.9L17.4 4.4L19.6 6.6L18.1 8.5L18.8 10.2L21.2 10.4L21.2 13.6L18.8 13.8L18.1 15.5L19.6 17.4L17.4 19.6L15.5 18.1L13.8 18.8L13.6 21.2L10.4 21.2L10.2 18.8L8.5 18.1L6.6 19.6L4.4 17.4L5.9 15.5L5.2 13.8L2.8 13.6L2.8 10.4L5.2 10.2L5.9 8.5L4.4 6.6L6.6 4.4L8.5 5.9z",
)
export const Sliders = drawIcon("M4 7h9M19 7h1M4 17h1M11 17h9", circle(16, 7, 2.5), circle(8, 17, 2.5))
export const Store = drawIcon(
  "M4 11v8a1 1 0 0 0 1 1h14a1 1 0 0 0 1-1v-8M10 20v-5h4v5",
  "M3 9l2-5h14l2 5a3 3 0 0 1-6 0 3 3 0 0 1-6 0 3 3 0 0 1-6 0z",
)
export const Table = drawIcon(frame, "M3 10h18M3 15h18M10 4v16")
export const Trash = drawIcon(
  "M4 6h16M9 6V4a1 1 0 0 1 1-1h4a1 1 0 0 1 1 1v2M10 11v5M14 11v5",
  "M6 6l1 13a2 2 0 0 0 2 2h6a2 2 0 0 0 2-2l1-13",
)
