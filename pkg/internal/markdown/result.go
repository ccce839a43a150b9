package markdown

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// page returns the page with all results.
func (r *Reader) page() *Page {
	p := &Page{
		Open: r.unclosed(), text: r.text, from: r.from, code: slices.Clone(r.codes), starts: slices.Clone(r.starts),
		Links: make([]Link, 0, len(r.links)), Spans: make([]Span, 0, len(r.spans)),
		Blocks: make([]Block, 0, len(r.blocks)), Comments: make([]Span, 0, len(r.comments)),
	}
	r.words, r.ends = r.words[:0], r.ends[:0]
	r.used = append(r.used[:0], make([]bool, len(r.defs))...)
	if len(r.notes) == 0 {
		p.anchors, p.parts = slices.Clone(r.anchors), slices.Clone(r.parts)
		r.addLinks(p, r.links)
		r.addSpans(p, r.spans)
	} else {
		r.addOrdered(p)
	}
	for _, b := range r.blocks {
		r.word(r.text[b.language.start:b.language.end])
		p.Blocks = append(p.Blocks, b.Block)
	}
	for _, c := range r.comments {
		r.word(r.content(c))
		p.Comments = append(p.Comments, Span{Offset: c.outer.start, End: c.outer.end})
	}
	p.inline = make([]extent, len(r.spans))
	for i, s := range r.spans {
		p.inline[i] = s.outer
	}
	r.cut(p)
	return p
}

// unclosed returns the offset of the last fence if only white space follows its block, or -1.
func (r *Reader) unclosed() int {
	for _, b := range slices.Backward(r.blocks) {
		if b.Fenced {
			if len(bytes.TrimSpace(r.text[b.End:])) == 0 {
				return b.fence
			}
			break
		}
	}
	return -1
}

// addOrdered adds links, spans, and anchors, block by block.
func (r *Reader) addOrdered(p *Page) {
	order := r.order()
	for _, i := range order {
		from, to := r.before(i), r.leaves[i]
		r.addLinks(p, r.links[from.links:to.links])
		p.anchors = append(p.anchors, r.anchors[from.anchors:to.anchors]...)
		p.parts = append(p.parts, r.parts[from.parts:to.parts]...)
	}
	for _, i := range order {
		r.addSpans(p, r.spans[r.before(i).spans:r.leaves[i].spans])
	}
}

// before returns the previous block.
func (r *Reader) before(i int) leaf {
	if i == 0 {
		return leaf{}
	}
	return r.leaves[i-1]
}

// addLinks adds links to the page; those of a definition only once.
func (r *Reader) addLinks(p *Page, links []rawLink) {
	for _, l := range links {
		raw := r.text[l.target.start:l.target.end]
		link := Link{Offset: l.target.start, Width: utf8.RuneCount(raw), TextStart: l.text.start, TextEnd: l.text.end}
		link.Image = l.kind == imageLink
		switch {
		case l.kind == markupLink:
			r.words = appendValue(r.words, raw)
			r.ends = append(r.ends, len(r.words))
		case len(raw) == 0:
			link.Offset = l.start
			r.word(nil)
		default:
			if l.def >= 0 && r.used[l.def] {
				continue
			}
			if l.def >= 0 {
				r.used[l.def] = true
			}
			r.words = appendDestination(r.words, raw)
			r.ends = append(r.ends, len(r.words))
		}
		p.Links = append(p.Links, link)
	}
}

// addSpans adds code spans to the page.
func (r *Reader) addSpans(p *Page, spans []rawSpan) {
	for _, s := range spans {
		r.word(r.content(s))
		p.Spans = append(p.Spans, Span{Offset: s.inner.start, End: s.inner.end})
	}
}

// content returns the text of a span.
func (r *Reader) content(s rawSpan) []byte {
	if s.text.end > 0 {
		return r.joinedText[s.text.start:s.text.end]
	}
	return r.text[s.inner.start:s.inner.end]
}

// word stores a string for the page.
func (r *Reader) word(b []byte) {
	r.words = append(r.words, b...)
	r.ends = append(r.ends, len(r.words))
}

// cut sets the page's strings, in the order in which word stored them. One allocation contains them all.
func (r *Reader) cut(p *Page) {
	all, ends, start := string(r.words), r.ends, 0
	next := func() string {
		s := all[start:ends[0]]
		start, ends = ends[0], ends[1:]
		return s
	}
	for i := range p.Links {
		p.Links[i].Target = next()
	}
	for i := range p.Spans {
		p.Spans[i].Text = next()
	}
	for i := range p.Blocks {
		p.Blocks[i].Language = next()
	}
	for i := range p.Comments {
		p.Comments[i].Text = next()
	}
}
