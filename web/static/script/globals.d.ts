// What the type checker needs to know about the pages and about data from the server. This file isn't served.

import type Htmx from 'htmx.org';
import type SortableClass from 'sortablejs';
import type * as Tus from 'tus-js-client';

declare global {
  // The third-party scripts that pages load before the modules.
  const htmx: typeof Htmx;
  const Idiomorph: { morph(node: Element, fresh: Element, config: object): void };
  const tus: typeof Tus;
  const Sortable: typeof SortableClass;
  // biome-ignore lint/suspicious/noExplicitAny: Swagger UI has no types
  const SwaggerUIBundle: any;

  // Browsers that don't know it have it undefined.
  interface Navigator {
    userAgentData?: { platform: string };
  }
  interface Element {
    moveBefore?(node: Node, before: Node | null): void;
  }
  // All elements that scripts look for are HTML elements. A selector whose last part starts with the name of an
  // element says which; for others, the variable that the result is assigned to does.
  interface ParentNode {
    querySelector<S extends string, E extends HTMLElement = ElementOf<S>>(selectors: S): E | null;
    querySelectorAll<S extends string, E extends HTMLElement = ElementOf<S>>(selectors: S): NodeListOf<E>;
  }
  interface Element {
    closest<S extends string, E extends HTMLElement = ElementOf<S>>(selectors: S): E | null;
  }
  type ElementOf<S extends string> = S extends `${string},${string}`
    ? HTMLElement
    : TagOf<S> extends keyof HTMLElementTagNameMap
      ? HTMLElementTagNameMap[TagOf<S>]
      : HTMLElement;
  type Query = <S extends string, E extends HTMLElement = ElementOf<S>>(selectors: S) => E | null;
  interface HTMLFormControlsCollection {
    // biome-ignore lint/suspicious/noExplicitAny: the name doesn't say which type of control it is
    [name: string]: any;
  }
  type TagOf<S extends string> = S extends `${string} ${infer Last}`
    ? TagOf<Last>
    : S extends `${infer Tag}[${string}`
      ? TagOf<Tag>
      : S extends `${infer Tag}.${string}`
        ? TagOf<Tag>
        : S extends `${infer Tag}:${string}`
          ? TagOf<Tag>
          : S;
  /** An event whose target is an element of the page. */
  type On<E, T extends HTMLElement = HTMLElement> = E & { target: T };
  // A listener may say which element is the target.
  type Listener<E> = { on(event: E): unknown }['on'];
  interface Document {
    getElementById<E extends HTMLElement = HTMLElement>(id: string): E | null;
    addEventListener(type: 'submit', listener: Listener<On<SubmitEvent, HTMLFormElement>>, options?: boolean): void;
    addEventListener(type: 'input', listener: Listener<On<InputEvent, HTMLInputElement>>): void;
    addEventListener(type: 'change', listener: Listener<On<Event, HTMLInputElement>>): void;
    addEventListener<K extends keyof DocumentEventMap>(
      type: K,
      listener: Listener<On<DocumentEventMap[K]>>,
      options?: boolean | AddEventListenerOptions,
    ): void;
    addEventListener(type: string, listener: Listener<On<CustomEvent>>): void;
  }
  interface HTMLElement {
    addEventListener(type: 'submit', listener: Listener<On<SubmitEvent, HTMLFormElement>>, options?: boolean): void;
    addEventListener(type: 'input', listener: Listener<On<InputEvent, HTMLInputElement>>): void;
    addEventListener(type: 'change', listener: Listener<On<Event, HTMLInputElement>>): void;
    addEventListener<K extends keyof HTMLElementEventMap>(
      type: K,
      listener: Listener<On<HTMLElementEventMap[K]>>,
      options?: boolean | AddEventListenerOptions,
    ): void;
    addEventListener(type: string, listener: Listener<On<CustomEvent>>): void;
  }
  interface HTMLTableElement {
    addEventListener(type: 'submit', listener: Listener<On<SubmitEvent, HTMLFormElement>>, options?: boolean): void;
    addEventListener(type: 'input', listener: Listener<On<InputEvent, HTMLInputElement>>): void;
    addEventListener(type: 'change', listener: Listener<On<Event, HTMLInputElement>>): void;
    addEventListener<K extends keyof HTMLElementEventMap>(
      type: K,
      listener: Listener<On<HTMLElementEventMap[K]>>,
      options?: boolean | AddEventListenerOptions,
    ): void;
    addEventListener(type: string, listener: Listener<On<CustomEvent>>): void;
  }
  interface HTMLDialogElement {
    addEventListener(type: 'submit', listener: Listener<On<SubmitEvent, HTMLFormElement>>, options?: boolean): void;
    addEventListener(type: 'input', listener: Listener<On<InputEvent, HTMLInputElement>>): void;
    addEventListener(type: 'change', listener: Listener<On<Event, HTMLInputElement>>): void;
    addEventListener<K extends keyof HTMLElementEventMap>(
      type: K,
      listener: Listener<On<HTMLElementEventMap[K]>>,
      options?: boolean | AddEventListenerOptions,
    ): void;
    addEventListener(type: string, listener: Listener<On<CustomEvent>>): void;
  }

  /** What a key or a button of the viewer does it with. */
  type Action = On<KeyboardEvent | MouseEvent>;
  // Cells are in rows, and beside a row is another one.
  interface HTMLTableCellElement {
    readonly parentElement: HTMLTableRowElement;
  }
  interface HTMLTableRowElement {
    readonly nextElementSibling: HTMLTableRowElement;
    readonly previousElementSibling: HTMLTableRowElement;
  }
  type Row = HTMLTableRowElement;
  type Cell = HTMLTableCellElement;

  /** A page of a document: its size at 100 %, and where it is shown. */
  interface ViewerPage {
    width: number;
    height: number;
    pixels: number;
    turn: number; // quarter turns, clockwise
    scale?: number;
    w?: number;
    h?: number;
    top?: number;
    left?: number;
  }
  /** A place of a page, and where it is in the pane. */
  interface Anchor {
    n: number;
    x: number;
    y: number;
    fx: number;
    fy: number;
  }
  /** A highlighted area of a page, in points of the unrotated page, and its note. */
  interface PageArea {
    id: number;
    page: number;
    x: number;
    y: number;
    width: number;
    height: number;
    text: string;
  }
  type Rect = [left: number, top: number, right: number, bottom: number];
  /** The words of a page. */
  interface PageWords {
    words: { text: string; box: Rect; breaks?: number }[];
    scale: number;
    rotation?: 0 | 90 | 180 | 270;
  }
  /** A match in a document. */
  interface Hit {
    page: number;
    before: string;
    match: string;
    after: string;
  }
  /** How much of a document can be searched. */
  interface Searched {
    waiting?: number;
    off?: boolean;
    textless?: boolean;
  }

  /** A change of a field of a form. */
  interface FieldChange {
    name: string;
    from: string;
    to: string;
  }

  /** What is typed in a cell of a runsheet and not saved yet. */
  interface CellEntry {
    value?: string;
    was: string;
    content: ChildNode[];
    keep?: boolean;
    both?: boolean;
    conflict?: boolean; // it replaces the entry of another person
  }
  interface CellEditor extends CellEntry {
    cell: Cell;
    input: HTMLInputElement | HTMLTextAreaElement;
  }
  interface Gap {
    above: number;
    name: string;
  }
  /** The response to a change of a runsheet. */
  interface SheetState {
    id?: number;
    rows?: { id: number; html: string }[];
    sequence?: number[];
    gaps?: Gap[];
    chosen?: boolean;
    notice?: string;
    undo?: { path: string; token: string };
    problem?: string;
    unsent?: boolean;
    conflict?: boolean;
    question?: string;
    duplicate?: number;
    position?: number;
  }
  interface SheetView {
    sort: { at: number; down: boolean } | null;
    open: boolean;
    category: string;
  }
  /** A change that can be undone: what submits its undoing, and the form's address and token. */
  interface UndoEntry {
    id: string;
    what: string;
    path?: string;
    token?: string;
  }
  /** A step undoes a change, or repeats it. It returns the step that repeats it, or the response if it failed. */
  type Step = () => Promise<Step | SheetState | null> | Step;

  type UploadState =
    | 'waiting'
    | 'sending'
    | 'lost'
    | 'filing'
    | 'filed'
    | 'refused'
    | 'failed'
    | 'cancelled'
    | 'signedout';
  /** A document that is uploaded, and its row. */
  interface Upload {
    file: File;
    batch: string;
    turn: number;
    path: string;
    state: UploadState;
    upload?: Tus.Upload;
    samples?: [time: number, sent: number][];
    shown?: number;
    li?: HTMLElement;
    label?: HTMLElement;
    rate?: HTMLElement;
    buttons?: HTMLElement;
    bar?: HTMLProgressElement;
    note?: HTMLElement;
    problem?: HTMLElement;
    cancel?: HTMLButtonElement;
    retry?: HTMLButtonElement;
  }
  /** What was dropped, with the number of files that can't be read. */
  type Dropped = { file: File; path: string }[] & { unread?: number };
  interface UploadResult {
    state?: string;
    name?: string;
    path?: string;
    note?: string;
    note_path?: string;
    message?: string;
    refusal?: string;
    advice?: string;
    offset?: number;
    size?: number;
  }
}
