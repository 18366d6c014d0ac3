// Turns a text with flat, possibly nested entities into a tree; offsets are UTF-16 units, as in JS strings.

// Nodes are strings or {entity, children}. An entity that crosses another's end is cut in two there;
// one outside the text is dropped.
export function buildEntityTree(text, entities) {
  const spans = (entities ?? []).map((entity, order) => spanOf(entity, order, text.length)).filter(Boolean);
  return nest(text, 0, text.length, spans.sort(outerFirst));
}

function nest(text, start, end, spans) {
  const nodes = [];
  const queue = [...spans];
  let at = start;
  while (queue.length > 0) {
    const outer = queue.shift();
    if (outer.start > at) nodes.push(text.slice(at, outer.start));
    const inner = takeInner(queue, outer);
    nodes.push({ entity: outer.entity, children: nest(text, outer.start, outer.end, inner) });
    at = outer.end;
  }
  if (at < end) nodes.push(text.slice(at, end));
  return nodes;
}

function takeInner(queue, outer) {
  const inner = [];
  const later = [];
  for (const span of queue.splice(0)) {
    if (span.start >= outer.end) later.push(span);
    else if (span.end <= outer.end) inner.push(span);
    else {
      inner.push({ ...span, end: outer.end });
      later.push({ ...span, start: outer.end });
    }
  }
  queue.push(...later.sort(outerFirst));
  return inner;
}

function spanOf(entity, order, limit) {
  const start = Math.max(0, entity.offset);
  const end = Math.min(limit, entity.offset + entity.length);
  return Number.isInteger(start) && end > start ? { entity, order, start, end } : null;
}

function outerFirst(one, other) {
  return one.start - other.start || other.end - one.end || one.order - other.order;
}
