module bamel.dev/stack/go-ipmi

go 1.26.0

tool github.com/bougou/go-ipmi/cmd/goipmi-server

require (
	github.com/bougou/go-ipmi v0.9.1 // indirect
	github.com/fatih/color v1.15.0 // indirect
	github.com/google/uuid v1.1.2 // indirect
	github.com/kr/pretty v0.3.0 // indirect
	github.com/kr/text v0.2.0 // indirect
	github.com/mattn/go-colorable v0.1.13 // indirect
	github.com/mattn/go-isatty v0.0.19 // indirect
	github.com/mattn/go-runewidth v0.0.16 // indirect
	github.com/olekukonko/errors v1.1.0 // indirect
	github.com/olekukonko/ll v0.0.9 // indirect
	github.com/olekukonko/tablewriter v1.0.9 // indirect
	github.com/rivo/uniseg v0.2.0 // indirect
	github.com/rogpeppe/go-internal v1.6.1 // indirect
	golang.org/x/sys v0.35.0 // indirect
)
