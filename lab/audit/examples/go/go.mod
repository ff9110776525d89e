module flowtable

go 1.19
