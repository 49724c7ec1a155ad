module capstan.example/ground/pause

go 1.26.0
