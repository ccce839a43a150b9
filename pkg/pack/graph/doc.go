// Package graph is the graph of what is locked: which pack requires which, with what range, and which chains lead from
// the manifest to a pack. It reads nothing and asks nobody: what it draws is a function of the packs it is given, and
// the same packs in another order give the same bytes.
//
// A graph is drawn as a text tree (Tree, and Inverted from a pack up to the manifest), as DOT for Graphviz, as a
// Mermaid flowchart, as an SVG that needs nothing else, and as JSON. Names come from manifests and packs that others
// wrote: each renderer writes them so that no name can end a label, add a node, or reach a terminal as a control
// sequence.
//
// Graphs may have cycles, packs that nobody requires, and requirements that nothing satisfies: these are drawn as what
// they are, and never an error. The work is near to linear in packs and requirements, for ten thousand packs too.
package graph
