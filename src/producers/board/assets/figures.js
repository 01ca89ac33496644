// Numbers for people, and the one way in which text enters the page: as text nodes.
export const count = (n) => Math.round(n).toLocaleString("en-US");

export function seconds(s) {
  if (s === null) return "unknown";
  if (s < 60) return `${s < 10 ? Math.round(s * 10) / 10 : Math.round(s)} s`;
  if (s < 5400) return `${Math.round(s / 60)} min`;
  return s < 172800 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 86400)} days`;
}

export function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  for (; n >= 1024 && i < units.length - 1; i++) n /= 1024;
  return `${i === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${units[i]}`;
}

export function ago(iso) {
  return seconds(Math.max(0, (Date.now() - Date.parse(iso)) / 1000));
}

export function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children.filter((child) => child !== null));
  return node;
}

/** Changes a text only where it is another one: what did not change is not read out again. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Brings a node's children to `items`, by key: what is there stays, and keeps the focus. */
export function reconcile(parent, items, keyOf, make, update) {
  const old = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  let place = null;
  for (const item of items) {
    const key = String(keyOf(item));
    let node = old.get(key);
    if (node === undefined) {
      node = make(item);
      node.dataset.key = key;
    }
    old.delete(key);
    update(node, item);
    const next = place === null ? parent.firstElementChild : place.nextElementSibling;
    if (next !== node) parent.insertBefore(node, next);
    place = node;
  }
  for (const node of old.values()) node.remove();
}
